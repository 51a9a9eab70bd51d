import assert from "node:assert/strict";
import { test } from "node:test";

import type { Node, Taint } from "../model/kubernetes.ts";
import { drainedTaints, undrainedTaints } from "./drain-taint.ts";
import { desiredAdminState, drainReasons } from "./reconcile-admin-state.ts";

const OTHER: Taint = { key: "team", value: "blue", effect: "NoSchedule" };
const DRAIN: Taint = { key: "azlb.io/drain", value: "manual", effect: "NoSchedule" };

function node(...taints: readonly Taint[]): Node {
  return { metadata: { name: "one", uid: "1", resourceVersion: "1" }, spec: { taints }, status: {} };
}

test("a drain adds one taint and keeps the others; undrain removes it alone", () => {
  assert.deepEqual(drainedTaints(node(OTHER), "NoSchedule"), [OTHER, DRAIN]);
  assert.deepEqual(undrainedTaints(node(DRAIN, OTHER)), [OTHER]);
  assert.deepEqual(undrainedTaints(node(DRAIN)), []);
});

test("what is there already is not written again", () => {
  assert.equal(drainedTaints(node(OTHER, { ...DRAIN, value: "terminate" }), "NoSchedule"), undefined);
  assert.equal(undrainedTaints(node(OTHER)), undefined);
});

test("another effect replaces the drain that is there: Kubernetes would keep both", () => {
  const mild: Taint = { ...DRAIN, effect: "PreferNoSchedule" };
  assert.deepEqual(drainedTaints(node(DRAIN, OTHER), "PreferNoSchedule"), [OTHER, mild]);
  assert.deepEqual(drainedTaints(node(mild, DRAIN), "NoSchedule"), [DRAIN]);
});

test("the taint means Down, whatever its value and effect", () => {
  for (const taint of [DRAIN, { key: DRAIN.key, effect: "PreferNoSchedule" }, { ...DRAIN, value: "reboot" }]) {
    assert.equal(desiredAdminState(node(taint)), "Down");
    assert.deepEqual(drainReasons(node(taint)), ["drain"]);
  }
});
