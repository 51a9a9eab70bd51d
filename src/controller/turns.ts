/**
 * One decision per turn of the event loop. Hundreds of Services may wake at once, and each decides for a millisecond or
 * two without a pause; done in one go that would keep everybody else waiting, and a doomed node has no time to wait.
 */
import type { Clock } from "../core/util/clock.ts";

export class Turns {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  #isRunning = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** In the order they came; I/O and timers come in between. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let go = this.#waiting.shift(); go !== undefined; go = this.#waiting.shift()) {
      go();
      await this.#clock.nextTurn();
    }
    this.#isRunning = false;
  }
}
