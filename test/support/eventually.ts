/** Asks again until the assertion holds; after the deadline its last failure is the test's. */
import { setTimeout as delay } from "node:timers/promises";

export async function eventually(assertion: () => void | Promise<void>, withinMs: number): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    try {
      return await assertion();
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
    }
    await delay(10);
  }
}
