/**
 * When to poll an operation. Each poll takes a read of the budget; each moment between the end of an operation and the next
 * poll delays all writes to the same resource. So:
 *
 *   the first wait | is learned per type of write: shorter after a poll that found it over; else towards what that
 *                  | operation took, but not far, since a few take a hundred times as long as the rest
 *   later waits    | a share of the time that the operation has taken so far, so its end is noticed late by at most that
 *                  | share: a quarter while the budget of reads is full, all of it as that runs out
 */
const FIRST_GUESS_MS = 250;
const SHORTEST_MS = 20;
const LONGEST_MS = 3_000;
const DOWN = 0.95;
const MOST_UP = 1.5;
const LEAST_SHARE = 0.25;
const LONGEST_LATER_MS = 5_000;

export class PollPace {
  readonly #waits = new Map<string, number>();

  firstWaitMs(type: string): number {
    return this.#waits.get(type) ?? FIRST_GUESS_MS;
  }

  /** An operation was found to be over after so long, first asked after `waitedMs`. Many of one wait teach as much as one. */
  learn(type: string, waitedMs: number, tookMs: number): void {
    const nowMs = this.firstWaitMs(type);
    const isFirst = tookMs <= waitedMs;
    const upMs = Math.min((waitedMs + tookMs) / 2, waitedMs * MOST_UP, LONGEST_MS);
    if (!isFirst) this.#waits.set(type, Math.max(nowMs, upMs));
    else if (waitedMs <= nowMs) this.#waits.set(type, Math.max(SHORTEST_MS, waitedMs * DOWN));
  }
}

/** Until the next poll of an operation that still runs after so long. `plenty`: of the budget, from 0 to 1. */
export function laterWaitMs(elapsedMs: number, plenty: number): number {
  const share = 1 - (1 - LEAST_SHARE) * plenty;
  return Math.min(LONGEST_LATER_MS, Math.max(SHORTEST_MS, elapsedMs * share));
}
