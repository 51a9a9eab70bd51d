/** Which writes are told as ones that took something away, and when. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { AttemptReport } from "../azure/group-commit/commit-types.ts";
import { type TakenAway, TakenAwayWatch } from "./taken-away.ts";

const GROUP = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network";
const LB = `${GROUP}/loadBalancers/kubernetes`;

function body(...rules: string[]) {
  const loadBalancingRules = rules.map((name) => ({ name, properties: {} }));
  return { id: LB, name: "kubernetes", properties: { loadBalancingRules } };
}

function report(more: Partial<AttemptReport> = {}): AttemptReport {
  const usual = { kind: "loadBalancer", size: 1, durationMs: 100, sinceMs: 7, outcome: "written" } as const;
  return { id: LB.toUpperCase(), owners: ["default/a"], ...usual, ...more };
}

function rig() {
  const told: TakenAway[] = [];
  return { told, watch: new TakenAwayWatch((taken) => told.push(taken)) };
}

test("a write that took a rule away is told once it is over, with when it was decided and by whom", () => {
  const { told, watch } = rig();
  watch.seen(LB, body("a", "b"), body("b"));
  assert.deepEqual(told, []);
  watch.attempted(report({ outcome: "conflict" }));
  assert.deepEqual(told, [], "it is repeated");
  watch.attempted(report());
  assert.deepEqual(told, [{ sinceMs: 7, by: ["default/a"] }]);
  watch.attempted(report());
  assert.equal(told.length, 1);
});

test("one that takes nothing is not told, nor one of another kind of resource", () => {
  const { told, watch } = rig();
  watch.seen(LB, body("a"), body("a", "b"));
  watch.seen(LB, null, body("a"));
  watch.attempted(report());
  const address = `${GROUP}/publicIPAddresses/one`;
  watch.seen(address, undefined, null);
  watch.attempted(report({ id: address }));
  assert.deepEqual(told, []);
});

test("what was unknown meanwhile may have lost something; a load balancer that is gone has", () => {
  const { told, watch } = rig();
  watch.seen(LB, body("a"), undefined);
  watch.seen(LB, undefined, body("a"));
  watch.attempted(report({ outcome: "unchanged" }));
  watch.seen(LB, body("a"), null);
  watch.attempted(report({ outcome: "deleted" }));
  assert.equal(told.length, 2);
});
