/**
 * Runs the sub-command that the arguments name and turns its outcome into an exit code. Which sub-commands there are is the
 * caller's: `azlb.ts` in the repository, `azlb-cli.ts` and `azlb-controller.ts` as they are shipped.
 */
import { type Command, CommanderError } from "commander";

import { badInputCodeOf } from "../cli/exit-codes.ts";

/** Errors caused by input of the user. Compared by name, so that a command loads only the modules that it needs. */
const BAD_INPUT = new Set([
  "InputError",
  "BadInput",
  "KubeConfigError",
  "CloudConfigError",
  "CloudError",
  "CredentialError",
  "NoAnswerError",
  "NoSuchService",
  "NoSuchNode",
  "CannotDrain",
  "ViewDenied",
  "ManifestError",
  "NoShadow",
]);
/** Errors of a server count as bad input if it does not answer at the given address or refuses the credentials. */
const SERVER_ERRORS = new Set(["KubeFailure", "ArmError"]);
/** Other failures whose message says all that the user needs. */
const FAILURES = new Set(["ViewTimeout", "ControllerRuns", "ObjectsLeft", "OtherSettings"]);
const UNUSABLE_STATUSES = [undefined, 401, 403];
const EXIT_FAILED = 1;
const EXIT_BAD_INPUT = 2;

function isBadInput(error: Error & { status?: number; failure?: { status?: number } }): boolean {
  if (BAD_INPUT.has(error.name)) return true;
  return (
    SERVER_ERRORS.has(error.name) &&
    UNUSABLE_STATUSES.includes(error.failure === undefined ? error.status : error.failure.status)
  );
}

/**
 * Exit codes: 0 success, 1 the work failed, a threshold is missed or a law is broken, 2 bad input. A command that means
 * something else by 2 gives its own code for bad input (`exit-codes.ts`).
 */
function exitCodeOf(error: unknown, badInput: number): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : badInput;
  if (error instanceof Error && isBadInput(error)) {
    process.stderr.write(`azlb: ${error.message}\n`);
    return badInput;
  }
  if (error instanceof Error && (SERVER_ERRORS.has(error.name) || FAILURES.has(error.name))) {
    process.stderr.write(`azlb: ${error.message}\n`);
    return EXIT_FAILED;
  }
  process.stderr.write(`azlb: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return EXIT_FAILED;
}

/** A closed pipe (`azlb plan | head`) is not a failure, and does not stop a sandbox. */
function ignoreClosedPipe(stream: NodeJS.WriteStream): void {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

export async function runProgram(azlb: Command): Promise<void> {
  ignoreClosedPipe(process.stdout);
  ignoreClosedPipe(process.stderr);
  try {
    await azlb.parseAsync();
  } catch (error) {
    process.exitCode = exitCodeOf(error, badInputCodeOf(azlb) ?? EXIT_BAD_INPUT);
    if (error instanceof Error && error.name === "ViewTimeout") endSoon();
  }
}

/** The time that the user gave is over: what is still waited for (a pause that Azure asked for) does not hold up the end. */
function endSoon(): void {
  setTimeout(() => process.exit(), 500).unref();
}
