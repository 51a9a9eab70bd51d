import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import { SANDBOX_ACCOUNT } from "../identity/account.ts";
import { openAzureStore } from "../store/azure-store.ts";
import { foreignResources } from "./foreign.ts";
import { applySeed } from "./seed.ts";
import { SKUS, topologyNodes, topologyResources, VM_TYPES, wholeTopology } from "./topology.ts";

const setUp = () => {
  const nowMs = () => 1_700_000_000_000;
  return { store: openAzureStore({ directory: undefined, options: {}, nowMs }), nowMs, guid: () => randomUUID() };
};

for (const vmType of VM_TYPES) {
  for (const sku of SKUS) {
    test(`Azure takes the seed of ${vmType} nodes, ${sku}, with foreign things, and takes it twice`, () => {
      const topology = wholeTopology({ nodes: 4, vmType, backendPool: "nodeIP", sku, foreign: true });
      const context = setUp();
      const resources = [
        ...topologyResources(SANDBOX_ACCOUNT, topology),
        ...foreignResources(SANDBOX_ACCOUNT, topology),
      ];
      applySeed(resources, context);
      const { resources: before } = context.store.snapshot();
      applySeed(resources, context); // a start that was killed half-way seeds again
      const { resources: after } = context.store.snapshot();
      assert.deepEqual(
        after.map(({ id, body }) => [id, body]),
        before.map(({ id, body }) => [id, body]),
      );
    });
  }

  test(`every ${vmType} node is there under its provider id, with its address`, () => {
    const topology = wholeTopology({ nodes: 40, vmType });
    const context = setUp();
    applySeed(topologyResources(SANDBOX_ACCOUNT, topology), context);
    const { resources } = context.store.snapshot();
    const ids = new Set(resources.map(({ id }) => id.toLowerCase()));
    const nodes = topologyNodes(SANDBOX_ACCOUNT, topology);
    for (const { providerId } of nodes)
      assert.ok(ids.has(providerId.replace("azure://", "").toLowerCase()), providerId);
    assert.equal(new Set(nodes.map(({ ip }) => ip)).size, 40);
    const text = JSON.stringify(resources);
    for (const { ip } of nodes) assert.ok(text.includes(`"${ip}"`), ip);
  });

  test(`with dual stack each ${vmType} node has its IPv6 address in Azure`, () => {
    const context = setUp();
    const topology = wholeTopology({ nodes: 20, vmType, dualStack: true });
    applySeed(topologyResources(SANDBOX_ACCOUNT, topology), context);
    const text = JSON.stringify(context.store.snapshot().resources);
    const nodes = topologyNodes(SANDBOX_ACCOUNT, topology);
    assert.deepEqual([nodes[0]?.ipv6, nodes[19]?.ipv6], ["fd00:10:240::4", "fd00:10:240::17"]);
    for (const { ipv6 } of nodes) assert.ok(text.includes(`"${ipv6}"`), ipv6);
  });
}

test("too many nodes for one scale set are in two, and all are there", () => {
  const topology = wholeTopology({ nodes: 1_010 });
  const context = setUp();
  applySeed(topologyResources(SANDBOX_ACCOUNT, topology), context);
  const ids = new Set(context.store.snapshot().resources.map(({ id }) => id.toLowerCase()));
  const nodes = topologyNodes(SANDBOX_ACCOUNT, topology);
  for (const { providerId } of nodes) assert.ok(ids.has(providerId.replace("azure://", "").toLowerCase()), providerId);
  assert.deepEqual(
    [nodes[999], nodes[1_000]].map((node) => [node?.name, node?.vmSet]),
    [
      ["vmss0000rr", "vmss"],
      ["vmss2000000", "vmss2"],
    ],
  );
});

test("node names follow the scale set's base 36", () => {
  const topology = wholeTopology({ nodes: 37 });
  const names = topologyNodes(SANDBOX_ACCOUNT, topology).map(({ name }) => name);
  assert.deepEqual([names[0], names[10], names[36]], ["vmss000000", "vmss00000a", "vmss000010"]);
});

test("Basic load balancers get network interfaces, unless told otherwise", () => {
  assert.equal(wholeTopology({}).backendPool, "nodeIP");
  assert.equal(wholeTopology({ sku: "basic" }).backendPool, "nodeIPConfiguration");
  assert.equal(wholeTopology({ sku: "basic", backendPool: "nodeIP" }).backendPool, "nodeIP");
});
