/**
 * Leases as the API server stores them, and the fence that keeps a process without its lease from writing. When the
 * lease is taken and renewed is decided by `leader-election.ts`.
 */
import type { Clock, Timer } from "../../core/util/clock.ts";
import type { KubeObject } from "../client/resources.ts";

/** A Lease as the API server stores it, for leader election and for the lock that controllers share. */
export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string | null;
    readonly leaseDurationSeconds?: number | null;
    readonly acquireTime?: string | null;
    readonly renewTime?: string | null;
    readonly leaseTransitions?: number | null;
  };
}

/** Times of a Lease have exactly six digits after the point; the API server refuses three. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}

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

export interface Instant {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export function instantOf(clock: Clock): Instant {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() };
}

/**
 * The fence of one leadership term. It holds for `renewDeadlineMs` after each renewal, counted from before that was sent,
 * and followers wait longer than that before they take over. Whichever of the two clocks went further counts: the
 * monotonic one stands still while a machine is suspended, and the other may be set back.
 *
 * Once lost it stays lost.
 */
export class LeaseFence implements Fence {
  readonly #clock: Clock;
  readonly #holdsMs: number;
  readonly #lost = new AbortController();
  #renewed: Instant;
  #timer: Timer;

  constructor(clock: Clock, holdsMs: number, acquired: Instant) {
    this.#clock = clock;
    this.#holdsMs = holdsMs;
    this.#renewed = acquired;
    this.#timer = this.#arm();
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  holds(): boolean {
    return !this.#lost.signal.aborted && this.#leftMs > 0;
  }

  check(): void {
    if (this.holds()) return;
    this.lose("it was not renewed in time");
    throw this.#lost.signal.reason;
  }

  renew(at: Instant): void {
    this.#renewed = at;
    this.#timer.cancel();
    if (!this.#lost.signal.aborted) this.#timer = this.#arm();
  }

  lose(why: string): void {
    this.#timer.cancel();
    if (!this.#lost.signal.aborted) this.#lost.abort(new LostLease(`the lease is lost: ${why}`));
  }

  get #leftMs(): number {
    const now = instantOf(this.#clock);
    const passedMs = Math.max(now.monotonicMs - this.#renewed.monotonicMs, now.wallMs - this.#renewed.wallMs);
    return this.#holdsMs - passedMs;
  }

  #arm(): Timer {
    return this.#clock.setTimer(Math.max(0, this.#leftMs), () => this.lose("it was not renewed in time"));
  }
}
