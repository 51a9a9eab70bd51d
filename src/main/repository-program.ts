/** `azlb` as it runs in the repository: the shipped commands, and those that measure and simulate. */
import type { Command } from "commander";

import { registerBench } from "../cli/bench.ts";
import { registerSimulate } from "../cli/simulate.ts";
import { program } from "./program.ts";

export function repositoryProgram(): Command {
  const azlb = program();
  registerBench(azlb);
  registerSimulate(azlb);
  return azlb;
}
