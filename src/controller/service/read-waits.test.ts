import assert from "node:assert/strict";
import { test } from "node:test";

import { settled, VirtualClock } from "../../../test/support/virtual-clock.ts";
import { ReadWaits } from "./read-waits.ts";

function rig() {
  const clock = new VirtualClock();
  const waits = new ReadWaits(clock);
  const told: string[] = [];
  const look = (name: string, ms: number): Promise<void> =>
    waits.during(
      () => clock.sleep(ms),
      (waitMs) => told.push(`${name} ${waitMs}`),
    );
  return { clock, waits, told, look };
}

test("a look that waits for throttled reads is told the time that is left, begun before or after the 429", async () => {
  const { clock, waits, told, look } = rig();
  void look("before", 30_000);
  await clock.advance(100);
  waits.held(20_000);
  await clock.advance(5_000);
  void look("after", 15_000);
  await clock.advance(60_000);
  assert.deepEqual(told, ["before 19000", "after 14000"]);
  assert.equal(clock.timers, 0);
});

test("what is done in a moment, or not held back, is not told", async () => {
  const { clock, waits, told, look } = rig();
  void look("long", 60_000);
  await clock.advance(60_000);
  waits.held(20_000);
  void look("known", 10);
  await clock.advance(30_000);
  void look("later", 30_000);
  await clock.advance(60_000);
  assert.deepEqual(told, []);
});

test("a look that fails ends its wait, and its failure is the caller's", async () => {
  const { clock, waits, told } = rig();
  waits.held(20_000);
  const failing = waits.during(
    () => Promise.reject(new Error("gone")),
    () => told.push("told"),
  );
  await assert.rejects(failing, /gone/);
  await clock.advance(30_000);
  await settled();
  assert.deepEqual(told, []);
});
