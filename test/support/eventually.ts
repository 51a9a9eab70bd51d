/**
 * Asks again until the assertion holds; after the deadline its last failure is the test's. The longer it has waited, the
 * longer it pauses, so that a long wait costs few questions and is found over a few percent late.
 */
import { setTimeout as delay } from "node:timers/promises";

const PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;
const PAUSE_OF_WAIT = 1 / 20;

export async function eventually(assertion: () => void | Promise<void>, withinMs: number): Promise<void> {
  const startMs = performance.now();
  for (;;) {
    const askedMs = performance.now();
    try {
      return await assertion();
    } catch (error) {
      if (performance.now() - startMs > withinMs) throw error;
    }
    const nowMs = performance.now();
    const pauseMs = Math.max(PAUSE_MS, nowMs - askedMs, (nowMs - startMs) * PAUSE_OF_WAIT);
    await delay(Math.min(pauseMs, LONGEST_PAUSE_MS));
  }
}
