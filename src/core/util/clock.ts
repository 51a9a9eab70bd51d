/**
 * Time, cancellation and randomness as they are handed in: `src/main/real-clock.ts` has the real ones,
 * `test/support/virtual-clock.ts` those of tests and simulations. And how long or frequent work shares the event loop.
 */

/** The part of `AbortSignal` that is used; the core has no DOM or Node types to name it by. */
export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

export interface Timer {
  /** Harmless once the timer has fired. */
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since 1970, for timestamps. It may jump. */
  nowMs(): number;
  /** For deadlines and durations: never goes back; only differences mean anything. */
  monotonicMs(): number;
  /** Calls back once. */
  setTimer(afterMs: number, callback: () => void): Timer;
  /** Rejects with the signal's reason once that is aborted. */
  sleep(afterMs: number, signal?: CancelSignal): Promise<void>;
  /** Yields to pending I/O and timers, so that long work does not starve them. */
  nextTurn(): Promise<void>;
}

/** A number from 0 (included) to 1 (excluded), evenly spread. */
export type Random = () => number;

/** `Clock.sleep`, given the timers of a clock. */
export function sleepOn(clock: Pick<Clock, "setTimer">, afterMs: number, signal?: CancelSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const wake = (): void => {
      timer.cancel();
      signal?.removeEventListener("abort", wake);
      reject(signal?.reason);
    };
    const timer = clock.setTimer(afterMs, () => {
      signal?.removeEventListener("abort", wake);
      resolve();
    });
    signal?.addEventListener("abort", wake);
  });
}

/**
 * The result of `work`, unless the signal is aborted first: for work that ignores signals, or that goes on for other
 * callers. It is not begun where the signal is aborted already, since its failure would be unhandled.
 */
export async function unlessAborted<Result>(work: () => Promise<Result>, signal?: CancelSignal): Promise<Result> {
  if (signal === undefined) return work();
  if (signal.aborted) throw signal.reason;
  let leave = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason);
    signal.addEventListener("abort", leave);
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

const SLICE_MS = 10;

/** Keeps long work from starving timers and I/O: after a slice of time the caller yields to the event loop. */
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

/**
 * One decision per turn of the event loop. Hundreds of Services may wake at once, and each decision takes a millisecond or
 * two; done in one go they would hold up all timers and I/O, among them the drain of a doomed node.
 */
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
