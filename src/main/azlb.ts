/**
 * The `azlb` command: runs the sub-command that was asked for and turns its outcome into an exit code. Which ones there
 * are stands in `program.ts`.
 */
import { CommanderError } from "commander";

import { program } from "./program.ts";

/** What the user gave cannot be used. By name, so that a command loads only the parts that it needs. */
const BAD_INPUT = new Set([
  "InputError",
  "BadInput",
  "KubeConfigError",
  "CloudConfigError",
  "CloudError",
  "CredentialError",
  "NoAnswerError",
  "NoSuchService",
]);
/** Errors of a server: bad input only where nobody answers at the address given, or it does not take us in. */
const OF_SERVERS = new Set(["KubeFailure", "ArmError"]);
const NOT_TAKEN_IN = [undefined, 401, 403];
const EXIT_FAILED = 1;
const EXIT_BAD_INPUT = 2;

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
