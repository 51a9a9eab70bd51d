/** Which nodes each of several load balancers has. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { CONFIG } from "../../../../test/support/core-fixtures.ts";
import { aNode } from "../../../../test/support/core-world.ts";
import { aLoadBalancer } from "../../../../test/support/fragments.ts";
import type { LoadBalancerConfig } from "../../config/cluster-config.ts";
import type { LoadBalancer } from "../../model/arm.ts";
import type { Node } from "../../model/kubernetes.ts";
import { nodesOf } from "./arranged-nodes.ts";

function lb(name: string, primaryVmSet: string): LoadBalancerConfig {
  const selectors = { serviceSelector: undefined, namespaceSelector: undefined, nodeSelector: undefined };
  return { name, primaryVmSet, allowServicePlacement: true, ...selectors };
}

function nodeOf(set: string, number: number): Node {
  const node = aNode(`${set}-${number}`, [`10.240.0.${number}`]);
  const providerID = `azure:///subscriptions/sub/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/${set}/virtualMachines/${number}`;
  return { ...node, spec: { ...node.spec, providerID } };
}

/** With these nodes in the cluster's pool. */
function seen(name: string, ...members: readonly string[]): LoadBalancer {
  const entries = members.map((member) => ({
    name: member,
    properties: { ipAddress: `10.240.0.${member.slice(-1)}` },
  }));
  const pool = { name: "kubernetes", properties: { loadBalancerBackendAddresses: entries } };
  const empty = aLoadBalancer({});
  return { ...empty, name, properties: { ...empty.properties, backendAddressPools: [pool] } };
}

const NODES = [nodeOf("vmss", 1), nodeOf("vmss", 2), nodeOf("vmss2", 3)];
const ALL = ["vmss-1", "vmss-2", "vmss2-3"];

function nodes(loadBalancers: readonly LoadBalancerConfig[], there: readonly LoadBalancer[], all = NODES) {
  const input = { config: { ...CONFIG, loadBalancers }, nodes: all, loadBalancers: there };
  return (name: string): string[] => nodesOf(input, name).map(({ metadata }) => metadata.name);
}

test("one that no node belongs to has all of them; one that is not there has none", () => {
  const configs = [lb("kubernetes", "vmss"), lb("lb2", "vmss2"), lb("lb3", "vmss3"), lb("lb4", "vmss4")];
  const of = nodes(configs, [seen("kubernetes", ...ALL), seen("lb2"), seen("lb3")]);
  assert.deepEqual(of("kubernetes"), ["vmss-1", "vmss-2"]);
  assert.deepEqual(of("lb2"), ["vmss2-3"]);
  assert.deepEqual(of("lb3"), ALL);
  assert.deepEqual(of("lb3-internal"), ALL);
  assert.deepEqual(of("lb4"), []);
});

test("a node stays with its own load balancer, though one that has all nodes comes first in the config", () => {
  const configs = [lb("lb3", "vmss3"), lb("kubernetes", "vmss")];
  const there = [seen("lb3", ...ALL), seen("kubernetes", "vmss2-3")];
  const of = nodes(configs, there, NODES);
  assert.deepEqual(of("kubernetes"), ALL, "two by their set, one because it is there");
  assert.deepEqual(of("lb3"), ALL);
});
