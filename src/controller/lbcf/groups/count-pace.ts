/**
 * How soon an owner of records is looked at again for the sake of its counts alone: soon after a while without changes, and once a
 * second in a stream of them. Looking costs as much as the owner has backends, and a write of its status.
 */
import type { Clock } from "../../../core/util/clock.ts";

const EVERY_MS = 1_000;

export class CountPace {
  readonly #clock: Pick<Clock, "monotonicMs">;
  /** When each was last looked at. */
  readonly #countedMs = new Map<string, number>();

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
  }

  /** `soonMs` where it was not looked at for a while. */
  delayMs(key: string, soonMs: number): number {
    const agoMs = this.#clock.monotonicMs() - (this.#countedMs.get(key) ?? -Infinity);
    return Math.max(soonMs, EVERY_MS - agoMs);
  }

  /** Remembers an owner that is there, and forgets one that is gone. */
  counted(key: string, isThere: boolean): void {
    if (isThere) this.#countedMs.set(key, this.#clock.monotonicMs());
    else this.#countedMs.delete(key);
  }
}
