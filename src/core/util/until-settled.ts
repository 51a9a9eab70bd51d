/**
 * The loop of every reconciliation: observe, decide, act, and observe again until nothing is left to do. The caller says
 * what a round does; this loop ensures that the rounds end. A decision that is never satisfied is a bug, and fails like
 * any other error, so that the caller retries it with backoff instead of spinning or counting it as settled.
 */

/** Far above the dozen or so that a reconciliation needs. */
const MOST_ROUNDS = 40;

export class UnsettledError extends Error {
  override readonly name = "UnsettledError";
}

/**
 * Runs rounds, one after the other, until one has a result. `undefined`: observe again at once. `what` names the subject
 * in the error: "Service web".
 */
export async function untilSettled<Result>(
  what: string,
  round: () => Promise<Result | undefined>,
  mostRounds = MOST_ROUNDS,
): Promise<Result> {
  for (let rounds = 0; rounds < mostRounds; rounds++) {
    const result = await round();
    if (result !== undefined) return result;
  }
  throw new UnsettledError(`${what} did not settle after ${mostRounds} rounds`);
}
