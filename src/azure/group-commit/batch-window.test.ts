import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "../../../test/support/virtual-clock.ts";
import type { AttemptReport } from "./commit-types.ts";
import { BatchWindow } from "./batch-window.ts";

const LB = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/loadBalancers/lb";

function written(size: number, id = LB): AttemptReport {
  return { id, kind: "loadBalancer", size, outcome: "written", durationMs: 1_000, sinceMs: 0 };
}

test("a resource that is not shared waits no longer than the least", () => {
  const gathering = new BatchWindow(new VirtualClock(), 10);
  assert.equal(gathering.waitMs(LB), 10);
  gathering.note(written(1));
  assert.equal(gathering.waitMs(LB), 10);
});

test("one that many have just written waits a part of a write's time, its pools included", async () => {
  const clock = new VirtualClock();
  const gathering = new BatchWindow(clock, 10);
  gathering.note(written(5));
  assert.equal(gathering.waitMs(`${LB.toUpperCase()}/backendAddressPools/p`), 250);
  gathering.note(written(1));
  assert.equal(gathering.waitMs(LB), 250);
  await clock.advance(6_000);
  assert.equal(gathering.waitMs(LB), 10);
});

test("a write that took very long makes no later one wait as long", () => {
  const gathering = new BatchWindow(new VirtualClock(), 10);
  gathering.note({ ...written(5), durationMs: 90_000 });
  assert.equal(gathering.waitMs(LB), 10_000);
});

test("what waits is held back for as long as the last write took, and not much where there was none", () => {
  const gathering = new BatchWindow(new VirtualClock(), 10);
  assert.equal(gathering.holdMs(LB), 250);
  gathering.note(written(1));
  assert.equal(gathering.holdMs(`${LB.toUpperCase()}/backendAddressPools/p`), 1_000);
  gathering.note({ ...written(5), durationMs: 90_000 });
  assert.equal(gathering.holdMs(LB), 10_000);
});
