/**
 * Notices a connection that is open and brings nothing. The API server sends a bookmark about every minute, so longer
 * silence means that the connection is dead, although TCP has not noticed.
 */
import type { Clock, Timer } from "../../core/util/clock.ts";

export interface Listening {
  /** When data last came, on the monotonic clock. */
  readonly heardMs: () => number;
  /** How much silence is too much at this stage. */
  readonly limitMs: () => number;
  readonly onSilence: (limitMs: number) => void;
}

/** Checks only when its timer fires, so data costs nothing. Ends when disposed of. */
export function guardSilence(clock: Clock, { heardMs, limitMs, onSilence }: Listening): Disposable {
  let timer: Timer;
  const look = (): void => {
    const leftMs = heardMs() + limitMs() - clock.monotonicMs();
    if (leftMs > 0) timer = clock.setTimer(leftMs, look);
    else onSilence(limitMs());
  };
  timer = clock.setTimer(limitMs(), look);
  return { [Symbol.dispose]: () => timer.cancel() };
}
