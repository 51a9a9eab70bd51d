#!/usr/bin/env node
/** The entry point of the `azlb` command as it is shipped: the commands for people, and the sandbox. */
import { program } from "./program.ts";
import { runProgram } from "./run-program.ts";

await runProgram(program());
