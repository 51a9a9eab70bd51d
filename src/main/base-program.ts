/** `azlb` without sub-commands: its version, and how it answers wrong arguments. */
import { Command } from "commander";

import { VERSION } from "./version.ts";

export function baseProgram(description: string): Command {
  return new Command("azlb")
    .description(description)
    .version(VERSION)
    .showHelpAfterError("(run with --help for the options)")
    .enablePositionalOptions()
    .exitOverride();
}
