/**
 * The `azlb` command: names the sub-commands and turns their outcome into an exit code.
 * What each one does stands in `src/cli/`; it is loaded only when asked for, so `--help` is instant.
 */
import { Command, CommanderError } from "commander";

import { registerAzure } from "../cli/azure.ts";
import { registerBench } from "../cli/bench.ts";
import { registerController } from "../cli/controller.ts";
import { registerKube } from "../cli/kube.ts";
import { registerExplain } from "../cli/explain.ts";
import { registerPlan } from "../cli/plan.ts";
import { registerSandbox } from "../cli/sandbox.ts";
import { registerSimulate } from "../cli/simulate.ts";
import { VERSION } from "./version.ts";

/** What the user gave cannot be used. By name, so that a command loads only the parts that it needs. */
const BAD_INPUT = new Set([
  "InputError",
  "BadInput",
  "KubeConfigError",
  "CloudConfigError",
  "CloudError",
  "CredentialError",
  "NoAnswer",
  "NoSuchService",
]);
/** Errors of a server: bad input only where nobody answers at the address given, or it does not take us in. */
const OF_SERVERS = new Set(["KubeFailure", "ArmError"]);
const NOT_TAKEN_IN = [undefined, 401, 403];
const EXIT_FAILED = 1;
const EXIT_BAD_INPUT = 2;

function program(): Command {
  const azlb = new Command("azlb")
    .description("Azure load balancers for Kubernetes Services, and a sandbox to try them in.")
    .version(VERSION)
    .showHelpAfterError("(run with --help for the options)")
    .enablePositionalOptions()
    .exitOverride();
  registerSandbox(azlb);
  registerController(azlb);
  registerPlan(azlb);
  registerExplain(azlb);
  registerAzure(azlb);
  registerKube(azlb);
  registerBench(azlb);
  registerSimulate(azlb);
  return azlb;
}

function isBadInput(error: Error & { status?: number; failure?: { status?: number } }): boolean {
  if (BAD_INPUT.has(error.name)) return true;
  return (
    OF_SERVERS.has(error.name) &&
    NOT_TAKEN_IN.includes(error.failure === undefined ? error.status : error.failure.status)
  );
}

/** Exit codes: 0 done, 1 the work failed or a bar does not hold, 2 bad input. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_BAD_INPUT;
  if (error instanceof Error && isBadInput(error)) {
    process.stderr.write(`azlb: ${error.message}\n`);
    return EXIT_BAD_INPUT;
  }
  process.stderr.write(`azlb: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return EXIT_FAILED;
}

/** Whoever reads us may have enough (`azlb plan | head`): no failure, and a sandbox runs on. */
function mayStopReading(stream: NodeJS.WriteStream): void {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

mayStopReading(process.stdout);
mayStopReading(process.stderr);
try {
  await program().parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}
