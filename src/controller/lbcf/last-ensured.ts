/**
 * When this process last ensured what, by object: after a restart everything is ensured once. By the monotonic clock, since a
 * wall clock that is set back would put off the next time by as much.
 */
import type { Clock } from "../../core/util/clock.ts";

export class LastEnsured {
  readonly #clock: Pick<Clock, "monotonicMs">;
  /** By key. */
  readonly #ensuredMs = new Map<string, number>();

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
  }

  note(key: string): void {
    this.#ensuredMs.set(key, this.#clock.monotonicMs());
  }

  /** In whole milliseconds, rounded up: what is left of a period is nothing or a time to wait for. `undefined`: not yet. */
  sinceMs(key: string): number | undefined {
    const ensuredMs = this.#ensuredMs.get(key);
    return ensuredMs === undefined ? undefined : Math.ceil(this.#clock.monotonicMs() - ensuredMs);
  }

  forget(key: string): void {
    this.#ensuredMs.delete(key);
  }
}
