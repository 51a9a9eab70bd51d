/** Ways to trip the brake, and changes that must not: on the core alone, with the plan of a whole cluster. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { PREFIX } from "../../../test/support/core-fixtures.ts";
import { aNode, CoreWorld } from "../../../test/support/core-world.ts";
import * as fc from "../../../test/support/laws.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { LoadBalancer } from "../model/arm.ts";
import type { Node } from "../model/kubernetes.ts";
import { planCluster, type ClusterPlan } from "../plan/plan-cluster.ts";
import { loadBalancerIndex } from "../resources/load-balancer/load-balancer-index.ts";
import { DEFAULT_BRAKE_LIMITS } from "./brake-limits.ts";
import { isLeaving, type PoolBrake, withheldMembers } from "./pool-brake.ts";
import { exceedsShare, parseShare } from "./share-limit.ts";
import { hashOf, linesOf, memberWrite } from "./withheld-writes.ts";

const INTERNAL = { [`${PREFIX}azure-load-balancer-internal`]: "true" };
const EXCLUDED = { "node.kubernetes.io/exclude-from-external-load-balancers": "true" };
const NO_MEMORY: PoolBrake = {
  limits: DEFAULT_BRAKE_LIMITS,
  recent: new Map(),
  departed: new Set(),
  released: new Set(),
};

/** `count` nodes with an address of each family. */
function nodesOf(count: number): Node[] {
  return Array.from({ length: count }, (_, at) =>
    aNode(`node${at}`, [`10.240.${Math.floor(at / 200)}.${10 + (at % 200)}`, `fd00::${(0x1000 + at).toString(16)}`]),
  );
}

interface Shape {
  readonly nodes?: number;
  readonly services?: number;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: object;
  readonly config?: Partial<ClusterConfig>;
}

/** A settled cluster; by default with one Service more than may lose something at once. */
function aCluster({ nodes = 10, services = 11, annotations = {}, spec = {}, config = {} }: Shape = {}): CoreWorld {
  const world = new CoreWorld(config);
  world.nodes = nodesOf(nodes);
  for (let at = 0; at < services; at++)
    world.apply({ metadata: { name: `s${at}`, annotations }, spec: { ports: [{ port: 80 }], ...spec } });
  world.settle();
  world.brake = NO_MEMORY;
  return world;
}

/** The same cluster and Azure under another config. */
function reconfigured(world: CoreWorld, config: Partial<ClusterConfig>): CoreWorld {
  const other = new CoreWorld({ ...world.config, ...config });
  const { nodes, services, loadBalancers, publicIPs, securityGroup, members, brake } = world;
  return Object.assign(other, { nodes, services, loadBalancers, publicIPs, securityGroup, members, brake });
}

function planOf(world: CoreWorld, exempt?: ReadonlySet<string>): ClusterPlan {
  return planCluster(
    [...world.services.values()].map((service) => world.observe(service)),
    exempt,
  );
}

function labelled(node: Node, labels: Readonly<Record<string, string>>): Node {
  return { ...node, metadata: { ...node.metadata, labels } };
}

function poolsIn(world: CoreWorld): Record<string, number> {
  const pools = world.loadBalancers.flatMap((body: LoadBalancer) => [...loadBalancerIndex(body).pools.values()]);
  return Object.fromEntries(
    pools.map(({ name, properties }) => [name, properties.loadBalancerBackendAddresses?.length ?? 0]),
  );
}

/** How many members and Services are withheld. */
function withheldBy(world: CoreWorld): { members: number; services: number } {
  const { members, services } = planOf(world).withheld;
  return { members: members.flatMap((each) => each.members).length, services: services.length };
}

describe("what trips the brake", () => {
  const memberCases: readonly [string, (world: CoreWorld) => void][] = [
    ["most Nodes are deleted", (world) => void (world.nodes = world.nodes.slice(0, 2))],
    ["most nodes are labelled to be left out", (world) => relabel(world, 8, EXCLUDED)],
    [
      "most nodes become control plane nodes",
      (world) => relabel(world, 8, { "node-role.kubernetes.io/control-plane": "" }),
    ],
    [
      "most nodes are labelled as not managed",
      (world) => relabel(world, 8, { "kubernetes.azure.com/managed": "false" }),
    ],
    [
      "most nodes lose their addresses",
      (world) =>
        void (world.nodes = world.nodes.map((node, at) => (at < 8 ? { ...node, status: { addresses: [] } } : node))),
    ],
    [
      "most nodes are being deleted",
      (world) =>
        void (world.nodes = world.nodes.map((node, at) =>
          at < 8 ? { ...node, metadata: { ...node.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } } : node,
        )),
    ],
  ];
  for (const [what, change] of memberCases) {
    test(`${what}: they stay in the pool, and each Service is warned`, () => {
      const world = aCluster();
      change(world);
      assert.deepEqual(withheldBy(world), { members: 8, services: 0 });
      assert.deepEqual(planOf(world).steps, []);
      world.settle();
      assert.equal(poolsIn(world)["kubernetes"], 10);
      const { ends } = planOf(world);
      for (const end of ends.values()) {
        const warnings = end.kind === "settled" ? end.warnings : [];
        assert.deepEqual(
          warnings.map(({ reason }) => reason),
          ["WriteWithheld"],
        );
        assert.match(
          warnings[0]?.message ?? "",
          /8 members of backend pool "kubernetes" \(node\d, node\d, node\d, …\)/,
        );
      }
    });
  }

  test("nodes that go one after another count together while they are remembered", () => {
    const world = aCluster();
    const pool =
      "/subscriptions/sub/resourcegroups/rg/providers/microsoft.network/loadbalancers/kubernetes/backendaddresspools/kubernetes";
    const recent = new Map([[pool, new Set(world.nodes.map(({ metadata }) => metadata.name))]]);
    world.brake = { ...NO_MEMORY, recent };
    for (let left = 9; left >= 2; left--) {
      world.nodes = world.nodes.slice(0, left);
      world.settle();
    }
    assert.equal(poolsIn(world)["kubernetes"], 3, "the eighth stays");
    world.brake = NO_MEMORY;
    world.settle();
    assert.equal(poolsIn(world)["kubernetes"], 2, "what is forgotten counts no more");
  });

  test("the pool of one family alone", () => {
    const world = aCluster({ spec: { ipFamilies: ["IPv6"] } });
    world.nodes = world.nodes.map((node, at) =>
      at < 8 ? { ...node, status: { addresses: node.status.addresses?.slice(0, 1) ?? [] } } : node,
    );
    world.settle();
    assert.equal(poolsIn(world)["kubernetes-IPv6"], 10);
  });

  const addressCases: readonly [string, Shape, Partial<ClusterConfig>][] = [
    ["another name of the load balancer", {}, { loadBalancerName: "other" }],
    ["another cluster name", {}, { clusterName: "prod", loadBalancerName: "prod" }],
    [
      "another cluster name, of internal Services",
      { annotations: INTERNAL },
      { clusterName: "a", loadBalancerName: "a" },
    ],
    ["another name, of internal Services", { annotations: INTERNAL }, { loadBalancerName: "other" }],
  ];
  for (const [what, shape, config] of addressCases) {
    test(`${what} in the config: no Service loses its address`, () => {
      const world = reconfigured(aCluster(shape), config);
      const { withheld, steps } = planOf(world);
      assert.equal(withheld.services.length, 11);
      assert.deepEqual(
        withheld.services.map(({ addresses }) => addresses.length),
        Array.from({ length: 11 }, () => 1),
      );
      assert.deepEqual(
        steps.filter(({ destructive }) => destructive),
        [],
      );
    });
  }

  test("the change of one Service goes on while those of the others are withheld", () => {
    const world = reconfigured(aCluster({ services: 12 }), { loadBalancerName: "other" });
    world.annotate("s0", { "example.com/x": "y" });
    const { withheld, steps } = planOf(world);
    assert.deepEqual(withheld.services.map(({ service }) => service).includes("default/s0"), false);
    assert.ok(steps.some(({ owners, destructive }) => destructive && owners.join() === "default/s0"));
  });
});

function relabel(world: CoreWorld, count: number, labels: Readonly<Record<string, string>>): void {
  world.nodes = world.nodes.map((node, at) => (at < count ? labelled(node, labels) : node));
}

describe("what does not trip the brake", () => {
  test("a hundred nodes of 150 that go at once", () => {
    const world = aCluster({ nodes: 150 });
    world.nodes = world.nodes.slice(100);
    world.settle();
    assert.equal(poolsIn(world)["kubernetes"], 50);
  });

  test("any number of nodes that announce it", () => {
    const world = aCluster({ nodes: 110 });
    const taint = { key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" };
    world.nodes = world.nodes.map((node, at) => (at < 100 ? { ...node, spec: { taints: [taint] } } : node));
    assert.ok(world.nodes.slice(0, 100).every(isLeaving));
    world.settle();
    assert.equal(poolsIn(world)["kubernetes"], 10);
  });

  test("nodes that announced it before they vanished", () => {
    const world = aCluster();
    world.brake = { ...NO_MEMORY, departed: new Set(world.nodes.slice(2).map(({ metadata }) => metadata.name)) };
    world.nodes = world.nodes.slice(0, 2);
    world.settle();
    assert.equal(poolsIn(world)["kubernetes"], 2);
  });

  test("new nodes that come first, before the old ones go", () => {
    const world = aCluster();
    const old = world.nodes;
    const fresh = nodesOf(20).slice(10);
    world.nodes = [...old, ...fresh];
    world.settle();
    world.nodes = fresh;
    world.settle();
    assert.equal(poolsIn(world)["kubernetes"], 10);
  });

  test("few Services", () => {
    const world = aCluster({ services: 10 });
    world.nodes = world.nodes.slice(0, 2);
    world.settle();
    assert.equal(poolsIn(world)["kubernetes"], 2);
    assert.deepEqual(withheldBy(reconfigured(world, { loadBalancerName: "other" })), { members: 0, services: 0 });
  });

  test("Services that are deleted, change their type or ask for something else, however many", () => {
    const world = aCluster({ services: 40 });
    for (let at = 0; at < 12; at++) world.delete(`s${at}`);
    for (let at = 12; at < 24; at++) world.respec(`s${at}`, { type: "ClusterIP" });
    for (let at = 24; at < 36; at++) world.annotate(`s${at}`, INTERNAL);
    const { withheld, ends } = planOf(world);
    assert.deepEqual(withheld, { services: [], members: [] });
    assert.ok([...ends.values()].every(({ kind }) => kind === "settled"));
  });

  test("nodes that are drained: Down is written whatever the brake keeps", () => {
    const world = aCluster({ config: { enableAdminState: true } });
    const taint = { key: "node.kubernetes.io/out-of-service", effect: "NoExecute" };
    world.nodes = world.nodes.map((node) => ({ ...node, spec: { taints: [taint] } }));
    world.settle();
    const [pool] = [...loadBalancerIndex(world.loadBalancers[0]!).pools.values()];
    const states = pool?.properties.loadBalancerBackendAddresses?.map(({ properties }) => properties["adminState"]);
    assert.deepEqual(new Set(states), new Set(["Down"]));
  });

  test("a change that an operator has accepted at the start", () => {
    const world = reconfigured(aCluster(), { loadBalancerName: "other" });
    const { withheld, steps } = planOf(world, new Set(world.services.keys()));
    assert.deepEqual(withheld.services, []);
    assert.ok(steps.some(({ destructive }) => destructive));
  });
});

test("nodes that join, and Services that are new, are served while members are withheld", () => {
  const world = aCluster();
  world.nodes = [...world.nodes.slice(0, 2), ...nodesOf(11).slice(10)];
  const service = world.apply({ metadata: { name: "new" }, spec: { ports: [{ port: 443 }] } });
  world.settle();
  assert.equal(poolsIn(world)["kubernetes"], 11);
  assert.equal(world.service("new").status.loadBalancer.ingress?.length, 1, service.metadata.name);
});

test("what is released goes, and nothing else", () => {
  const world = aCluster();
  world.nodes = world.nodes.slice(0, 2);
  const { withheld } = planOf(world);
  const lines = linesOf(withheld);
  assert.equal(hashOf(lines), hashOf(linesOf(planOf(world).withheld)), "the hash is stable");
  world.brake = { ...NO_MEMORY, released: new Set(lines) };
  world.nodes = world.nodes.slice(0, 1);
  world.settle();
  assert.equal(poolsIn(world)["kubernetes"], 1, "one more is below the share");
});

test("a Service that was taken over, and bears no mark, counts as unchanged", () => {
  const world = reconfigured(aCluster(), { loadBalancerName: "other" });
  for (const { metadata } of world.services.values()) world.annotate(metadata.name, { "azlb.io/applied": null });
  assert.equal(withheldBy(world).services, 11);
});

test("a node that is new, and has not been called ready yet, announces nothing", () => {
  const taint = (effect: string) => ({ spec: { taints: [{ key: "node.kubernetes.io/not-ready", effect }] } });
  assert.deepEqual([isLeaving(taint("NoSchedule")), isLeaving(taint("NoExecute"))], [false, true]);
  assert.ok(isLeaving({ spec: { unschedulable: true } }));
});

test("shares", () => {
  assert.equal(parseShare("30%"), 0.3);
  for (const text of ["", "30", "101%", "-1%", "x%"]) assert.equal(parseShare(text), undefined);
  assert.equal(exceedsShare(2, 2, { share: 0, minimum: 3 }), false);
});

test("law: only members that are there and not wanted are kept, in whatever order; released ones are not", () => {
  const names = fc.uniqueArray(
    fc.integer({ min: 0, max: 40 }).map((at) => `n${at}`),
    { maxLength: 30 },
  );
  const sets = fc.record({ present: names, wanted: names, leaving: names, recent: names, departed: names });
  fc.assert(
    fc.property(sets, ({ present, wanted, leaving, recent, departed }) => {
      const brake = { ...NO_MEMORY, recent: new Map([["p", new Set(recent)]]), departed: new Set(departed) };
      const change = {
        pool: "P",
        present: new Set(present),
        wanted: new Set(wanted),
        leaving: new Set(leaving),
        services: 11,
      };
      const kept = withheldMembers(brake, change);
      assert.deepEqual(kept, withheldMembers(brake, { ...change, present: new Set(present.toReversed()) }));
      assert.ok([...kept].every((name) => present.includes(name) && !wanted.includes(name)));
      assert.equal(withheldMembers(brake, { ...change, services: 10 }).size, 0);
      const released = new Set([...kept].map((name) => memberWrite("p", name)));
      const gone = recent.filter((name) => !present.includes(name));
      if (gone.length === 0) assert.equal(withheldMembers({ ...brake, released }, change).size, 0);
    }),
    { numRuns: 300 },
  );
});
