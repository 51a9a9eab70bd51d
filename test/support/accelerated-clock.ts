/** Real time, but everything waits only a fraction of what it asks for: patience of minutes in a test of seconds. */
import { sleepOn, type Clock } from "../../src/core/util/clock.ts";
import { realClock } from "../../src/main/real-clock.ts";

export function acceleratedClock(factor: number): Clock {
  const clock: Clock = {
    ...realClock,
    monotonicMs: () => realClock.monotonicMs() * factor,
    setTimer: (afterMs, callback) => realClock.setTimer(afterMs / factor, callback),
    sleep: (afterMs, signal) => sleepOn(clock, afterMs, signal),
  };
  return clock;
}
