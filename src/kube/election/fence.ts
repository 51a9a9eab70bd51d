/**
 * Keeps a process that lost its lease from writing: every writer asks it before a write leaves. The election makes the
 * fence; a process that runs without election passes `OPEN_FENCE`.
 */
export interface Fence {
  /** Does this process hold the lease at this instant? Decided by its own clock, not by the last answer. */
  holds(): boolean;
  /** Throws `LostLease` unless it holds. Call right before the write leaves. */
  check(): void;
  /** Aborted, with a `LostLease`, as soon as the loss is noticed: ends writes under way. */
  readonly signal: AbortSignal;
}

export class LostLease extends Error {
  override readonly name = "LostLease";
}

export const OPEN_FENCE: Fence = { holds: () => true, check: () => {}, signal: new AbortController().signal };
