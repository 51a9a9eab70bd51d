/**
 * Time that passes only when told to. Timers fire in the order they are due (ties: as they were set), and after
 * each one everything that it set in motion settles before the next fires. So a day of retries takes a millisecond
 * and every run is the same.
 */
import { sleepOn, type CancelSignal, type Clock, type Timer } from "../../src/core/util/clock.ts";

interface Waiting {
  readonly dueMs: number;
  readonly callback: () => void;
}

/** Runs every promise reaction that is ready, and what those make ready. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export class VirtualClock implements Clock {
  /** Soonest first. */
  readonly #waiting: Waiting[] = [];
  readonly #startMs: number;
  #elapsedMs = 0;

  readonly #creepMs: number;

  /** `creepMs`: how much time passes whenever it is asked for, as real time does. */
  constructor(startMs = Date.UTC(2026, 0, 1), creepMs = 0) {
    this.#startMs = startMs;
    this.#creepMs = creepMs;
  }

  nowMs(): number {
    return this.#startMs + this.#elapsedMs;
  }

  monotonicMs(): number {
    this.#elapsedMs += this.#creepMs;
    return this.#elapsedMs;
  }

  /** How many timers wait: a test of "nothing is left behind". */
  get timers(): number {
    return this.#waiting.length;
  }

  /** When the next timer is due, from now; `undefined` if none waits. */
  get nextTimerMs(): number | undefined {
    const next = this.#waiting[0];
    return next && Math.max(0, next.dueMs - this.#elapsedMs);
  }

  setTimer(afterMs: number, callback: () => void): Timer {
    const entry = { dueMs: this.#elapsedMs + Math.max(0, afterMs), callback };
    this.#waiting.splice(this.#placeFor(entry.dueMs), 0, entry);
    return {
      cancel: () => {
        const at = this.#waiting.indexOf(entry);
        if (at !== -1) this.#waiting.splice(at, 1);
      },
    };
  }

  sleep(afterMs: number, signal?: CancelSignal): Promise<void> {
    return sleepOn(this, afterMs, signal);
  }

  nextTurn(): Promise<void> {
    return Promise.resolve();
  }

  /** Lets that much time pass, firing what falls due on the way, also what is set meanwhile. */
  async advance(byMs: number): Promise<void> {
    const endMs = this.#elapsedMs + byMs;
    await settled();
    for (let next = this.#waiting[0]; next && next.dueMs <= endMs; next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#elapsedMs = Math.max(this.#elapsedMs, next.dueMs);
      next.callback();
      await settled();
    }
    this.#elapsedMs = endMs;
  }

  /** Lets time pass until `done`, at most `withinMs`; returns how long it took, or throws. */
  async advanceUntil(done: () => boolean, withinMs = 86_400_000): Promise<number> {
    const startMs = this.#elapsedMs;
    await settled();
    while (!done()) {
      const stepMs = this.nextTimerMs;
      if (stepMs === undefined || this.#elapsedMs + stepMs - startMs > withinMs) {
        throw new Error(`not done after ${this.#elapsedMs - startMs} ms of virtual time; ${this.timers} timers wait`);
      }
      await this.advance(stepMs);
    }
    return this.#elapsedMs - startMs;
  }

  #placeFor(dueMs: number): number {
    let low = 0;
    let high = this.#waiting.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#waiting[middle]!.dueMs <= dueMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** A stream of numbers from 0 to 1 that is the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
