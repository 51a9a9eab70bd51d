/**
 * Time, cancellation and randomness as they are handed in: `src/main/real-clock.ts` has the real ones,
 * `test/support/virtual-clock.ts` those of tests and simulations.
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
