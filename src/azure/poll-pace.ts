/**
 * When to ask whether an operation is over. Each poll is a read of the budget, and each moment that an operation is over
 * and nobody has asked is lost by all who wait for the same resource. So:
 *
 *   the first wait | is learned per type of write: longer after a poll that came too early, shorter after one that did
 *                  | not, which settles where about two in three operations are over at the first poll
 *   later waits    | a share of the time that the operation has taken so far, so whoever learns of its end late is
 *                  | late by that share: a quarter while the budget of reads is full, all of it as that runs out
 */
const FIRST_GUESS_MS = 250;
const SHORTEST_MS = 20;
const LONGEST_MS = 3_000;
const DOWN = 0.9;
const UP = 1.25;
const LEAST_SHARE = 0.25;
const LONGEST_LATER_MS = 5_000;

export class PollPace {
  readonly #waits = new Map<string, number>();

  firstWaitMs(type: string): number {
    return this.#waits.get(type) ?? FIRST_GUESS_MS;
  }

  /** What the first poll found after that wait. Many operations of one wait teach as much as one. */
  learn(type: string, waitedMs: number, wasOver: boolean): void {
    const nowMs = this.firstWaitMs(type);
    if (!wasOver) this.#waits.set(type, Math.min(LONGEST_MS, Math.max(nowMs, waitedMs * UP)));
    else if (waitedMs <= nowMs) this.#waits.set(type, Math.max(SHORTEST_MS, waitedMs * DOWN));
  }
}

/** Until the next poll of an operation that still runs after so long. `plenty`: of the budget, from 0 to 1. */
export function laterWaitMs(elapsedMs: number, plenty: number): number {
  const share = 1 - (1 - LEAST_SHARE) * plenty;
  return Math.min(LONGEST_LATER_MS, Math.max(SHORTEST_MS, elapsedMs * share));
}
