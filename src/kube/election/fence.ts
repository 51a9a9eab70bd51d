/**
 * What stands between a process that lost its lease and the world: everyone who writes asks first. The election
 * makes the fence; a lone process without election passes `OPEN_FENCE`.
 */
export interface Fence {
  /** Is the lease ours at this instant? Decided by our own clock, not by what was last heard. */
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
