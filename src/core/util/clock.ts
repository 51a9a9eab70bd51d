/**
 * Time, turns and chance, as everything of ours asks for them: `src/main/real-clock.ts` has the real ones,
 * `test/support/virtual-clock.ts` those of tests and simulations.
 */

/** What we need of an `AbortSignal`, which fits it; the core has no DOM or Node types to name it by. */
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
  /** Milliseconds since 1970. For people and for other machines: it may jump. */
  nowMs(): number;
  /** Never goes back; only differences mean anything. For deadlines and durations. */
  monotonicMs(): number;
  /** Calls back once. */
  setTimer(afterMs: number, callback: () => void): Timer;
  /** Rejects with the signal's reason once that is aborted. */
  sleep(afterMs: number, signal?: CancelSignal): Promise<void>;
  /** Lets waiting I/O and timers have a turn, so that long work does not starve them. */
  nextTurn(): Promise<void>;
}

/** A number from 0 (included) to 1 (excluded), evenly spread. */
export type Random = () => number;

/** How every clock sleeps, given its timers. */
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
