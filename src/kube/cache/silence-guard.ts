/**
 * Notices a connection that is open and says nothing. The server sends a bookmark about every minute, so longer
 * silence means that nobody is there any more, whatever TCP believes.
 */
import type { Clock, Timer } from "../../core/util/clock.ts";

export interface Listening {
  /** When something was last heard, on the monotonic clock. */
  readonly heardMs: () => number;
  /** How much silence is too much at this stage. */
  readonly limitMs: () => number;
  readonly onSilence: (limitMs: number) => void;
}

/** Looks only when its timer fires: hearing something costs nothing. Ends when disposed of. */
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
