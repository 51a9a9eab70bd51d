/** What wakes a Service that cannot be served, and what each look at it believes. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { VirtualClock } from "../../../test/support/virtual-clock.ts";
import { DELAY } from "../../core/retry.ts";
import { RefusedServices } from "./refused-services.ts";

function rig() {
  const clock = new VirtualClock();
  const looks: string[] = [];
  return { clock, looks, refused: new RefusedServices(clock, (key) => looks.push(key)) };
}

test("one that waits for others is looked at soon after a change, once for a burst of changes", async () => {
  const { clock, looks, refused } = rig();
  assert.equal(refused.refused("default/a", true), DELAY.refusedMs);
  refused.refused("default/b", false);
  for (let change = 0; change < 5; change++) refused.wake("changed");
  await clock.advance(DELAY.wakeRefusedMs);
  assert.deepEqual(looks, ["default/a"]);
  await clock.advance(DELAY.refusedMs);
  assert.deepEqual(looks, ["default/a"]);
});

test("looks that others cause believe what is known, and do not put off the one that reads Azure anew", async () => {
  const { clock, refused } = rig();
  refused.refused("default/a", true);
  for (const leftMs of [50_000, 40_000, 30_000, 20_000, 10_000]) {
    await clock.advance(9_000);
    refused.wake("changed");
    await clock.advance(1_000);
    assert.equal(refused.takeWoken("default/a"), true);
    assert.equal(refused.takeWoken("default/a"), false, "the next look is not that one");
    assert.equal(refused.refused("default/a", true), leftMs);
  }
  refused.wake("changed");
  await clock.advance(10_000);
  assert.equal(refused.takeWoken("default/a"), false, "it is due");
  assert.equal(refused.refused("default/a", true), DELAY.refusedMs);
});

test("one that changed itself is looked at anew", async () => {
  const { clock, refused } = rig();
  refused.refused("default/a", true);
  refused.wake("changed");
  await clock.advance(DELAY.wakeRefusedMs);
  refused.changed("default/a", false);
  assert.equal(refused.takeWoken("default/a"), false);
  assert.equal(refused.refused("default/a", true), DELAY.refusedMs);
});

test("one that failed for want of a quota is woken by a Service that went, not by a change", async () => {
  const { clock, looks, refused } = rig();
  refused.failed("default/a");
  refused.wake("changed");
  await clock.advance(DELAY.wakeRefusedMs);
  assert.deepEqual(looks, []);
  refused.wake("gone");
  await clock.advance(DELAY.wakeRefusedMs);
  assert.deepEqual(looks, ["default/a"]);
});

test("many of them are looked at less often", async () => {
  const { clock, looks, refused } = rig();
  for (let at = 0; at < 1_000; at++) refused.refused(`default/${at}`, true);
  refused.wake("changed");
  await clock.advance(9_000);
  assert.deepEqual(looks, []);
  await clock.advance(1_000);
  assert.equal(looks.length, 1_000);
});

test("what is served or gone is not looked at, and nothing after the end", async () => {
  const { clock, looks, refused } = rig();
  refused.refused("default/a", true);
  refused.refused("default/b", true);
  refused.forget("default/a");
  refused.wake("gone");
  refused.stop();
  await clock.advance(DELAY.refusedMs);
  assert.deepEqual(looks, []);
  assert.equal(clock.timers, 0);
});

test("a refusal stands until the Service asks for something else, fails otherwise or is served", () => {
  const { refused } = rig();
  assert.equal(refused.isStanding("default/a"), false);
  refused.refused("default/a", true);
  refused.changed("default/a", false);
  assert.equal(refused.isStanding("default/a"), true, "only its status or metadata changed");
  refused.changed("default/a", true);
  assert.equal(refused.isStanding("default/a"), false);
  refused.refused("default/a", true);
  refused.failed("default/a");
  assert.equal(refused.isStanding("default/a"), false);
  refused.refused("default/a", true);
  refused.forget("default/a");
  assert.equal(refused.isStanding("default/a"), false);
});
