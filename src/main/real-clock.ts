/** The `Clock` of the machine. */
import { sleepOn, type Clock, type Timer } from "../core/util/clock.ts";

/** A longer delay overflows `setTimeout`, which would fire at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

function setTimer(afterMs: number, callback: () => void): Timer {
  const dueMs = performance.now() + afterMs;
  let timeout: NodeJS.Timeout;
  const arm = (leftMs: number): void => {
    timeout = setTimeout(
      () => {
        const stillMs = dueMs - performance.now();
        if (leftMs > LONGEST_TIMEOUT_MS && stillMs > 0) arm(stillMs);
        else callback();
      },
      Math.min(leftMs, LONGEST_TIMEOUT_MS),
    );
  };
  arm(afterMs);
  return { cancel: () => clearTimeout(timeout) };
}

export const realClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer,
  sleep: (afterMs, signal) => sleepOn({ setTimer }, afterMs, signal),
  // twice: during an I/O callback, the first setImmediate runs before the event loop polls for I/O again
  nextTurn: () => new Promise((resolve) => setImmediate(() => setImmediate(resolve))),
};
