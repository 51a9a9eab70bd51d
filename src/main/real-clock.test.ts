import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";

import { realClock } from "./real-clock.ts";

test("a timer of a month does not fire at once", async () => {
  let fired = false;
  const timer = realClock.setTimer(31 * 86_400_000, () => {
    fired = true;
  });
  await realClock.sleep(5);
  timer.cancel();
  assert.equal(fired, false);
});

test("a sleeper is woken by its signal with the signal's reason, and leaves no listener behind", async () => {
  const stop = new AbortController();
  await realClock.sleep(1, stop.signal);
  const asleep = realClock.sleep(3_600_000, stop.signal);
  const reason = new Error("wake up");
  stop.abort(reason);
  await assert.rejects(asleep, reason);
  await assert.rejects(realClock.sleep(1, stop.signal), reason);
  assert.equal(getEventListeners(stop.signal, "abort").length, 0);
});

test("a cancelled timer does not fire", async () => {
  let fired = false;
  realClock
    .setTimer(1, () => {
      fired = true;
    })
    .cancel();
  await realClock.sleep(10);
  assert.equal(fired, false);
});
