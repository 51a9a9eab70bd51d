/**
 * When to ask for the first time whether an operation is over. Most end within a second or two, but a poll that comes
 * too early is answered "wait ten seconds", and each poll is a read of the budget. So the first wait is learned per
 * type of write: halfway up after a poll that came too early, slowly down after one that did not, which settles where
 * about nine in ten operations are over at the first poll.
 */
const FIRST_GUESS_MS = 250;
const SHORTEST_MS = 20;
const LONGEST_MS = 3_000;
const DOWN = 0.95;
const UP = 2;

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

/** Later waits, where the answer does not name one: growing gently. */
export function laterWaitMs(polls: number): number {
  return Math.min(5_000, FIRST_GUESS_MS * 1.5 ** polls);
}
