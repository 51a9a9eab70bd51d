/** Keeps long work from starving timers and I/O: after a slice of time the caller yields to the event loop. */
import type { Clock } from "../../core/util/clock.ts";

const SLICE_MS = 10;

export class Pacer {
  readonly #clock: Clock;
  #sliceStartMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sliceStartMs = clock.monotonicMs();
  }

  /** To be checked after each small piece of work; where it is true, await `turn()`. */
  get sliceIsOver(): boolean {
    return this.#clock.monotonicMs() - this.#sliceStartMs >= SLICE_MS;
  }

  async turn(): Promise<void> {
    await this.#clock.nextTurn();
    this.#sliceStartMs = this.#clock.monotonicMs();
  }
}
