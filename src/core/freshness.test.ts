import assert from "node:assert/strict";
import { test } from "node:test";
import { aNode } from "../../test/support/core-world.ts";
import { aLoadBalancer } from "../../test/support/fragments.ts";
import type { Compute } from "./backends/compute.ts";
import { takesPoolsAway, unlistedMachines } from "./freshness.ts";
import type { Node } from "./model/kubernetes.ts";

const GROUP = "/subscriptions/sub/resourceGroups/rg/providers";
const VM = `${GROUP}/Microsoft.Compute/virtualMachines/vm1`;
const NIC = `${GROUP}/Microsoft.Network/networkInterfaces/nic1`;
const NOTHING: Compute = {
  virtualMachines: new Map(),
  networkInterfaces: new Map(),
  scaleSets: new Map(),
  instances: new Map(),
};

function nodeOn(providerID: string): Node {
  const node = aNode("node", ["10.0.0.4"]);
  return { ...node, spec: { ...node.spec, providerID } };
}

test("a machine counts as listed with its network interface only", () => {
  const node = nodeOn(`azure://${VM}`);
  const machine = { id: VM, name: "vm1", properties: { networkProfile: { networkInterfaces: [{ id: NIC }] } } };
  const withMachine = { ...NOTHING, virtualMachines: new Map([[VM.toLowerCase(), machine]]) };
  const nic = { id: NIC, name: "nic1", properties: {} };
  const withBoth = { ...withMachine, networkInterfaces: new Map([[NIC.toLowerCase(), nic]]) };
  assert.deepEqual(unlistedMachines([node], NOTHING), [VM.toLowerCase()]);
  assert.deepEqual(unlistedMachines([node], withMachine), [VM.toLowerCase()]);
  assert.deepEqual(unlistedMachines([node], withBoth), []);
});

test("what is no Azure machine is never waited for", () => {
  assert.deepEqual(unlistedMachines([nodeOn("k3s://node"), nodeOn("")], NOTHING), []);
});

test("a pool that goes takes its machines along, one that comes does not", () => {
  const one = aLoadBalancer({ pools: ["kubernetes"] });
  const both = aLoadBalancer({ pools: ["kubernetes", "kubernetes-IPv6"] });
  assert.equal(takesPoolsAway(one, undefined), true);
  assert.equal(takesPoolsAway(undefined, undefined), true);
  assert.equal(takesPoolsAway(both, one), true);
  assert.equal(takesPoolsAway(one, both), false);
  assert.equal(takesPoolsAway(undefined, one), false);
});
