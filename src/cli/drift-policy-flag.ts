/** The flag that the controller and the commands that plan its writes share, so that all of them mean the same writes. */
import { Option } from "commander";

export function driftPolicyFlag(description: string): Option {
  return new Option("--drift-policy <policy>", description).choices(["report", "enforce", "ignore"]).default("report");
}
