/**
 * One decision per turn of the event loop. Hundreds of Services may wake at once, and each decision takes a millisecond or
 * two; done in one go they would hold up all timers and I/O, among them the drain of a doomed node.
 */
import type { Clock } from "../core/util/clock.ts";

export class DecisionTurns {
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
