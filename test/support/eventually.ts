/** Asks again until the assertion holds; after the deadline its last failure is the test's. */
import { setTimeout as delay } from "node:timers/promises";

const PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

export async function eventually(assertion: () => void | Promise<void>, withinMs: number): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    const askedMs = performance.now();
    try {
      return await assertion();
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
    }
    const tookMs = performance.now() - askedMs;
    await delay(Math.min(Math.max(PAUSE_MS, tookMs), LONGEST_PAUSE_MS));
  }
}
