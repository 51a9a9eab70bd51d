import assert from "node:assert/strict";
import { test } from "node:test";
import { aNode } from "../../../test/support/core-world.ts";
import type { BackendPoolFragment } from "../resources/backend-pool/fragment.ts";
import type { Taint } from "../model/kubernetes.ts";
import { nodeFinder } from "./reconcile-admin-state.ts";
import { refreshAdminStates } from "./refresh-admin-states.ts";

const OUT: Taint = { key: "node.kubernetes.io/out-of-service", effect: "NoExecute" };

const DECIDED: BackendPoolFragment = {
  pool: "kubernetes",
  family: "IPv4",
  members: [
    { name: "doomed", ipAddress: "10.0.0.4", adminState: "None" },
    { name: "cleared", ipAddress: "10.0.0.5", adminState: "Down" },
    { name: "gone", ipAddress: "10.0.0.6", adminState: "None" },
    { name: "same", ipAddress: "10.0.0.7", adminState: "None" },
  ],
  own: new Set(),
  virtualNetworkId: "vnet",
};

test("a membership that waited has the states of now, and none for a node that has gone", () => {
  const nodes = [aNode("Doomed", [], { taints: [OUT] }), aNode("cleared", []), aNode("same", [])];
  const refreshed = refreshAdminStates(DECIDED, nodeFinder(nodes));
  assert.deepEqual(
    refreshed.members.map(({ name, adminState }) => [name, adminState]),
    [
      ["doomed", "Down"],
      ["cleared", "None"],
      ["gone", undefined],
      ["same", "None"],
    ],
  );
});

test("where nothing changed it is the same object, so that answers about it are remembered", () => {
  const members = DECIDED.members.filter(({ name }) => name === "same");
  const fragment = { ...DECIDED, members };
  assert.equal(refreshAdminStates(fragment, nodeFinder([aNode("same", [])])), fragment);
});
