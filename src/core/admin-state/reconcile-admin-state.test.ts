import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { aNode } from "../../../test/support/core-world.ts";
import type { BackendAddress, BackendPool, LoadBalancer } from "../model/arm.ts";
import type { Taint } from "../model/kubernetes.ts";
import type { BackendPoolFragment } from "../resources/backend-pool/fragment.ts";
import {
  desiredAdminState,
  drainReasons,
  isDrained,
  mergeAdminState,
  nodeFinder,
  reconcileAdminState,
  refreshAdminStates,
  adminStatePools,
} from "./reconcile-admin-state.ts";
import { CONFIG } from "../../../test/support/core-fixtures.ts";

const OUT: Taint = { key: "node.kubernetes.io/out-of-service", effect: "NoExecute" };
const SPOT: Taint = { key: "cloudprovider.azure.microsoft.com/draining", value: "spot-eviction", effect: "NoSchedule" };

describe("the state that taints ask for", () => {
  for (const [what, taints, state] of [
    ["no taints", [], "None"],
    ["out of service, whatever its value", [{ ...OUT, value: "nodeshutdown" }], "Down"],
    ["spot eviction", [SPOT], "Down"],
    ["draining for another reason", [{ ...SPOT, value: "upgrade" }], "None"],
    ["a cordon", [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }], "None"],
    ["both taints", [OUT, SPOT], "Down"],
  ] as const) {
    test(`${what}: ${state}`, () => assert.equal(desiredAdminState(aNode("node", [], { taints })), state));
  }
});

function entry(name: string, properties: BackendAddress["properties"]): BackendAddress {
  return { name, properties };
}

function reconciled(entries: readonly BackendAddress[], taints: readonly Taint[]) {
  const pool: BackendPool = { name: "kubernetes", properties: { loadBalancerBackendAddresses: entries } };
  const node = aNode("node", ["10.0.0.4", "fd00::4"], { taints });
  const nodeOf = nodeFinder([node], (id) => (id === "nic-config" ? node : undefined));
  const result = reconcileAdminState(pool, nodeOf);
  const after = result.properties.loadBalancerBackendAddresses ?? [];
  return {
    isSame: result === pool,
    states: after.map(({ properties }) => properties.adminState),
    changes: after
      .filter((one, at) => one !== entries[at])
      .map(({ name, properties }) => [name, properties.adminState]),
  };
}

describe("the entries of a pool", () => {
  test("a node's are found by name, by address, and by network interface", () => {
    const entries = [
      entry("NODE", { ipAddress: "10.9.9.9" }),
      entry("migrated", { ipAddress: "fd00:0:0::4" }),
      entry("0a1b", { networkInterfaceIPConfiguration: { id: "nic-config" } }),
    ];
    const { states, changes } = reconciled(entries, [SPOT]);
    assert.deepEqual(states, ["Down", "Down", "Down"]);
    assert.deepEqual(changes, [
      ["NODE", "Down"],
      ["migrated", "Down"],
      ["0a1b", "Down"],
    ]);
  });

  test("a left over Down goes back to None, an Up stays", () => {
    const entries = [entry("node", { adminState: "Down" }), entry("x", { ipAddress: "10.0.0.4", adminState: "Up" })];
    assert.deepEqual(reconciled(entries, []).states, ["None", "Up"]);
  });

  test("Down is enforced over an Up", () => {
    assert.deepEqual(reconciled([entry("node", { adminState: "Up" })], [OUT]).states, ["Down"]);
  });

  test("others' entries are never touched, and nothing to do is the same pool", () => {
    const entries = [
      entry("server", { ipAddress: "10.0.0.9", adminState: "Down" }),
      entry("node", { adminState: "Down" }),
    ];
    const { isSame, changes } = reconciled(entries, [OUT]);
    assert.deepEqual([isSame, changes], [true, []]);
  });
});

test("the reasons of a node that is held Down", () => {
  assert.deepEqual(drainReasons(aNode("node", [], { taints: [SPOT, { ...OUT, value: "x" }] })), [
    "out-of-service",
    "spot-eviction",
  ]);
  assert.deepEqual(drainReasons(aNode("node", [], { taints: [{ ...SPOT, value: "upgrade" }] })), []);
});

describe("a write of a pool", () => {
  const nodeOf = nodeFinder([aNode("node", [], { taints: [OUT] })]);
  const poolOf = (...entries: BackendAddress[]): BackendPool => {
    return { name: "kubernetes", properties: { loadBalancerBackendAddresses: entries } };
  };

  test("is needed only where an entry is wrong", () => {
    assert.equal(mergeAdminState(poolOf(entry("node", {})), [{ nodeOf }]).outcome.kind, "put");
    assert.equal(
      mergeAdminState(poolOf(entry("node", { adminState: "Down" })), [{ nodeOf }]).outcome.kind,
      "unchanged",
    );
    assert.equal(mergeAdminState(undefined, [{ nodeOf }]).outcome.kind, "unchanged", "the pool has gone");
  });

  test("is drained when all entries of the pool are Down; an empty pool is not", () => {
    assert.equal(isDrained(poolOf(entry("node", { adminState: "Down" }))), true);
    assert.equal(isDrained(poolOf(entry("node", { adminState: "Down" }), entry("x", {}))), false);
    assert.equal(isDrained(poolOf()), false);
  });
});

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

test("a fragment that waited gets the current states, and none for a node that is gone", () => {
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

test("where nothing changed it is the same object, so that memoised answers about it hold", () => {
  const members = DECIDED.members.filter(({ name }) => name === "same");
  const fragment = { ...DECIDED, members };
  assert.equal(refreshAdminStates(fragment, nodeFinder([aNode("same", [])])), fragment);
});

function aLoadBalancer(name: string, ...pools: string[]): LoadBalancer {
  const backendAddressPools = pools.map((pool) => ({ name: pool, properties: {} }));
  return { id: `/lbs/${name}`, name, properties: { backendAddressPools } };
}

const ALL = [
  aLoadBalancer("kubernetes", "kubernetes", "kubernetes-IPv6", "aksOutboundBackendPool"),
  aLoadBalancer("kubernetes-internal", "KUBERNETES"),
  aLoadBalancer("foreign", "kubernetes"),
];

test("the cluster's pools of every managed load balancer, of both families, and no others", () => {
  assert.deepEqual(
    adminStatePools(CONFIG, ALL).map(({ id }) => id),
    [
      "/lbs/kubernetes/backendAddressPools/kubernetes",
      "/lbs/kubernetes/backendAddressPools/kubernetes-IPv6",
      "/lbs/kubernetes-internal/backendAddressPools/KUBERNETES",
    ],
  );
});

test("none where the switch is off, or the SKU has no admin state", () => {
  assert.deepEqual(adminStatePools({ ...CONFIG, enableAdminState: false }, ALL), []);
  assert.deepEqual(adminStatePools({ ...CONFIG, sku: "basic" }, ALL), []);
});
