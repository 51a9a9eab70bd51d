import assert from "node:assert/strict";
import { test } from "node:test";
import { CONFIG } from "../../../test/support/core-fixtures.ts";
import { aNode } from "../../../test/support/core-world.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { Node } from "../model/kubernetes.ts";
import { isEligible, nodeAddress, whyNoMembers } from "./eligible-nodes.ts";

const NIC: ClusterConfig = { ...CONFIG, poolType: "nodeIPConfiguration" };
const EXCLUDE = "node.kubernetes.io/exclude-from-external-load-balancers";

function labelled(labels: Readonly<Record<string, string>>): Node {
  const node = aNode("node", ["10.0.0.4"]);
  return { ...node, metadata: { ...node.metadata, labels } };
}

const tainted = aNode("node", ["10.0.0.4"], {
  taints: [{ key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" }],
});
const drained = aNode("node", ["10.0.0.4"], {
  taints: [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }],
});
const plain = aNode("node", ["10.0.0.4"]);
const leaving: Node = { ...plain, metadata: { ...plain.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
const controlPlane = labelled({ "node-role.kubernetes.io/control-plane": "" });

for (const [what, node, ofAddresses, ofInterfaces] of [
  ["a plain node", plain, true, true],
  ["one that is being deleted", leaving, false, false],
  ["excluded by label", labelled({ [EXCLUDE]: "true" }), false, false],
  ["the exclusion label empty", labelled({ [EXCLUDE]: "" }), false, false],
  ["the exclusion label unreadable", labelled({ [EXCLUDE]: "maybe" }), false, false],
  ["the exclusion label false", labelled({ [EXCLUDE]: "false" }), true, true],
  ["the exclusion label 0", labelled({ [EXCLUDE]: "0" }), true, true],
  ["about to be removed by the autoscaler", tainted, false, false],
  ["draining: stays, with its admin state Down", drained, true, true],
  ["not managed", labelled({ "kubernetes.azure.com/managed": "False" }), false, false],
  ["control plane", controlPlane, false, false],
  ["control plane by the older label", labelled({ "kubernetes.io/role": "master" }), false, false],
  ["of another resource group", labelled({ "kubernetes.azure.com/resource-group": "other" }), true, false],
  ["of the cluster's resource group", labelled({ "kubernetes.azure.com/resource-group": "RG" }), true, true],
] as const) {
  test(`${what}: ${ofAddresses ? "in" : "not in"} pools of addresses, ${ofInterfaces ? "in" : "not in"} those of interfaces`, () => {
    assert.deepEqual([isEligible(node, CONFIG), isEligible(node, NIC)], [ofAddresses, ofInterfaces]);
  });
}

test("the control plane joins pools of interfaces if the config says so, or on Basic", () => {
  assert.ok(isEligible(controlPlane, { ...NIC, excludeMasterFromStandardLB: false }));
  assert.ok(isEligible(controlPlane, { ...NIC, sku: "basic" }));
});

test("a node's address is its first InternalIP of the family", () => {
  const node = aNode("node", ["fd00::4", "10.0.0.4", "10.0.0.5"]);
  assert.equal(nodeAddress(node, "IPv4"), "10.0.0.4");
  assert.equal(nodeAddress(node, "IPv6"), "fd00::4");
  assert.equal(nodeAddress(aNode("node", ["10.0.0.4"]), "IPv6"), undefined);
});

test("why a pool has no members is explained with the fix", () => {
  assert.equal(whyNoMembers([], CONFIG, "IPv4"), "the cluster has no nodes; add some");
  assert.match(
    whyNoMembers([labelled({}), controlPlane], CONFIG, "IPv6"),
    /^no node that may serve has an InternalIP of that family; .*leave IPv6 out of spec\.ipFamilies$/,
  );
  assert.match(
    whyNoMembers([labelled({ [EXCLUDE]: "true" }), controlPlane], CONFIG, "IPv4"),
    /^all nodes are kept out of load balancers; .*node\.kubernetes\.io\/exclude-from-external-load-balancers/,
  );
});
