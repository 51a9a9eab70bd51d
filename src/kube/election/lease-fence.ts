/**
 * The fence of one leadership term. It holds for `renewDeadlineMs` after each renewal, counted from before that was sent,
 * and followers wait longer than that before they take over. Whichever of the two clocks went further counts: the
 * monotonic one stands still while a machine is suspended, and the other may be set back.
 *
 * Once lost it stays lost.
 */
import type { Clock, Timer } from "../../core/util/clock.ts";
import { LostLease, type Fence } from "./fence.ts";

export interface Instant {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export function instantOf(clock: Clock): Instant {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() };
}

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
