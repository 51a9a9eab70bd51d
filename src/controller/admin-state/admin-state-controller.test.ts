import assert from "node:assert/strict";
import { test } from "node:test";
import { aNode } from "../../../test/support/core-world.ts";
import type { Node, Taint } from "../../core/model/kubernetes.ts";
import { DrainingNodes } from "./admin-state-controller.ts";

const OUT: Taint = { key: "node.kubernetes.io/out-of-service", effect: "NoExecute" };
const SPOT: Taint = { key: "cloudprovider.azure.microsoft.com/draining", value: "spot-eviction", effect: "NoSchedule" };

function tainted(uid: string, ...taints: Taint[]): Node {
  const node = aNode("node", [], { taints });
  return { ...node, metadata: { ...node.metadata, uid } };
}

test("a node begins a transition when it asks for another state, and only then", () => {
  const draining = new DrainingNodes();
  assert.equal(draining.see(tainted("a"), 0), undefined);
  assert.equal(draining.see(tainted("a", OUT), 1)?.state, "Down");
  assert.equal(draining.see(tainted("a", OUT, SPOT), 2), undefined, "one more reason for the same");
  assert.equal(draining.see(tainted("a", SPOT), 3), undefined);
  assert.equal(draining.see(tainted("a"), 4)?.state, "None");
});

test("a newer transition ends the older one", () => {
  const draining = new DrainingNodes();
  const down = draining.see(tainted("a", OUT), 0);
  const none = draining.see(tainted("a"), 1);
  assert.ok(down !== undefined && none !== undefined);
  assert.equal(draining.current(down.key), undefined);
  assert.equal(draining.current(none.key), none);
  draining.over(none);
  assert.deepEqual([...draining.underway()], []);
});

test("a node made anew under the same name is not Down, but begins with the entry that the former one left", () => {
  const draining = new DrainingNodes();
  const down = draining.see(tainted("a", OUT), 0);
  draining.forget(tainted("a", OUT));
  const none = draining.see(tainted("b"), 1);
  assert.equal(none?.state, "None", "its own transition, so that a failure to set it back is told on it");
  assert.equal(draining.current(down?.key ?? ""), undefined);
  draining.over(none);
  draining.forget(tainted("b"));
  assert.equal(draining.see(tainted("c"), 2), undefined, "the one before it was not Down");
  assert.equal(draining.size, 0);
});

test("nodes are counted by reason", () => {
  const draining = new DrainingNodes();
  draining.see(tainted("a", OUT), 0);
  draining.see(tainted("b", OUT, SPOT), 0);
  assert.deepEqual(draining.byReason(), {
    "out-of-service": 2,
    "spot-eviction": 1,
    drain: 0,
    "configured-taint": 0,
    deletion: 0,
  });
  draining.see(tainted("b"), 1);
  assert.deepEqual(draining.byReason(), {
    "out-of-service": 1,
    "spot-eviction": 0,
    drain: 0,
    "configured-taint": 0,
    deletion: 0,
  });
});
