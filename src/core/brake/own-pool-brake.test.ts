/** The brake on pools that Services have of their own: on the core alone, with the plan of a whole cluster. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { aNode, CoreWorld } from "../../../test/support/core-world.ts";
import type { Node } from "../model/kubernetes.ts";
import { planCluster } from "../plan/plan-cluster.ts";
import { loadBalancerIndex } from "../resources/load-balancer/load-balancer-index.ts";
import { DEFAULT_BRAKE_LIMITS } from "./brake-limits.ts";
import type { PoolBrake } from "./pool-brake.ts";
import { linesOf, memberWrite } from "./withheld-writes.ts";

const NO_MEMORY: PoolBrake = {
  limits: DEFAULT_BRAKE_LIMITS,
  recent: new Map(),
  departed: new Set(),
  released: new Set(),
};
const ONE = {
  name: "kubernetes",
  primaryVmSet: "vmss",
  allowServicePlacement: true,
  serviceSelector: undefined,
  namespaceSelector: undefined,
  nodeSelector: undefined,
};
const EXCLUDED = { "node.kubernetes.io/exclude-from-external-load-balancers": "true" };

interface Shape {
  readonly nodes?: number;
  readonly services?: number;
  /** The nodes with endpoints of one Service. */
  readonly on?: (service: number) => readonly number[];
}

/** A settled cluster of Local Services. By default each has endpoints on two of ten nodes. */
function aCluster({ nodes = 10, services = 15, on = (at) => [at % 10, (at + 1) % 10] }: Shape = {}): CoreWorld {
  const world = new CoreWorld({ loadBalancers: [ONE] });
  world.nodes = Array.from({ length: nodes }, (_, at) =>
    aNode(`node${at}`, [`10.240.${Math.floor(at / 200)}.${10 + (at % 200)}`]),
  );
  world.endpointSlices = [];
  for (let at = 0; at < services; at++) {
    world.apply({ metadata: { name: `s${at}` }, spec: { ports: [{ port: 80 }], externalTrafficPolicy: "Local" } });
    moveEndpoints(world, at, on(at));
  }
  world.settle();
  world.brake = NO_MEMORY;
  return world;
}

function moveEndpoints(world: CoreWorld, service: number, nodes: readonly number[]): void {
  const key = `default/s${service}`;
  const slice = { service: key, addressType: "IPv4", nodeNames: nodes.map((at) => `node${at}`) };
  world.endpointSlices = [...(world.endpointSlices ?? []).filter((one) => one.service !== key), slice];
}

/** By number of the Service. */
function pools(world: CoreWorld): Record<string, number> {
  const bodies = world.loadBalancers.flatMap((body) => [...loadBalancerIndex(body).pools.values()]);
  const own = bodies.filter(({ name }) => name.startsWith("default-s"));
  const sizes = own.map(({ name, properties }) => [
    name.slice("default-s".length),
    properties.loadBalancerBackendAddresses?.length ?? 0,
  ]);
  return Object.fromEntries(sizes);
}

function plan(world: CoreWorld) {
  return planCluster([...world.services.values()].map((service) => world.observe(service)));
}

/** Of own pools alone. */
function withheld(world: CoreWorld): Record<string, readonly string[]> {
  const own = plan(world).withheld.members.filter(({ pool }) => pool.includes("/default-s"));
  return Object.fromEntries(own.map(({ pool, members }) => [pool.split("/default-s")[1]!, members]));
}

function labelled(node: Node): Node {
  return { ...node, metadata: { ...node.metadata, labels: EXCLUDED } };
}

describe("what trips the brake", () => {
  const cases: readonly [string, (world: CoreWorld) => void][] = [
    ["most Nodes are deleted", (world) => void (world.nodes = world.nodes.slice(8))],
    [
      "most Nodes are deleted, and their endpoints with them",
      (world) => {
        world.nodes = world.nodes.slice(8);
        for (let at = 0; at < 15; at++) moveEndpoints(world, at, []);
      },
    ],
    [
      "most nodes are labelled to be left out",
      (world) => void (world.nodes = world.nodes.map((node, at) => (at < 8 ? labelled(node) : node))),
    ],
    [
      "most nodes lose their addresses",
      (world) =>
        void (world.nodes = world.nodes.map((node, at) => (at < 8 ? { ...node, status: { addresses: [] } } : node))),
    ],
  ];
  for (const [what, change] of cases) {
    test(`${what}: they stay in the pools that would lose more than the share, and their Services are warned`, () => {
      const world = aCluster({ on: (at) => (at === 14 ? [8, 9] : [at % 8, (at + 1) % 8]) });
      change(world);
      const kept = withheld(world);
      assert.deepEqual(Object.keys(kept).length, 14);
      assert.deepEqual(kept["1"], ["node1", "node2"]);
      assert.equal(kept["14"], undefined);
      world.settle();
      const sizes = Object.entries(pools(world)).filter(([at]) => at !== "14");
      assert.ok(sizes.every(([, size]) => size === 2));
      const { ends } = plan(world);
      const end = ends.get("default/s1");
      const warnings = end?.kind === "settled" ? end.warnings.map(({ message }) => message) : [];
      assert.match(warnings.join(), /2 members of backend pool "default-s1" \(node1, node2\) would go at once/);
      const other = ends.get("default/s14");
      assert.deepEqual(other?.kind === "settled" && other.warnings, []);
    });
  }

  test("nodes that go one after another count together while they are remembered", () => {
    const world = aCluster({ services: 30 });
    const all = pools(world);
    const id = "/subscriptions/sub/resourcegroups/rg/providers/microsoft.network/loadbalancers/kubernetes";
    const recent = Object.keys(all).map((at) => {
      const names = [`node${Number(at) % 10}`, `node${(Number(at) + 1) % 10}`];
      return [`${id}/backendaddresspools/default-s${at}`, new Set(names)] as const;
    });
    world.brake = { ...NO_MEMORY, recent: new Map(recent) };
    for (let left = 9; left >= 2; left--) {
      world.nodes = world.nodes.slice(0, left);
      world.settle();
    }
    const kept = withheld(world);
    assert.ok(
      Object.values(kept).length > 0 && Object.values(kept).every((names) => names.join() === "node2"),
      "the eighth",
    );
  });

  test("a node joins by its endpoints while others are kept", () => {
    const world = aCluster({ on: (at) => [at % 8, (at + 1) % 8, (at + 2) % 8] });
    world.nodes = world.nodes.slice(8);
    moveEndpoints(world, 1, [9]);
    world.settle();
    assert.equal(pools(world)["1"], 4);
  });
});

describe("what does not trip the brake", () => {
  test("endpoints that move or go, of however many Services: that is their own change", () => {
    const world = aCluster({ services: 20 });
    for (let at = 0; at < 20; at++) moveEndpoints(world, at, at < 10 ? [9] : []);
    assert.deepEqual(withheld(world), {});
    world.settle();
    assert.deepEqual(new Set(Object.values(pools(world))), new Set([1, 0]));
  });

  test("endpoints that move while a few nodes vanish: the few are all that counts", () => {
    const world = aCluster({ services: 20 });
    world.nodes = world.nodes.slice(3);
    for (let at = 0; at < 20; at++) moveEndpoints(world, at, [9]);
    assert.deepEqual(withheld(world), {});
  });

  test("a few nodes that vanish with all that many Services have", () => {
    const world = aCluster({ services: 30, on: (at) => [at % 10] });
    world.nodes = world.nodes.slice(3);
    world.settle();
    assert.equal(Object.values(pools(world)).filter((size) => size === 0).length, 9);
  });

  test("a hundred nodes of 150 that go at once", () => {
    const world = aCluster({ nodes: 150, services: 30, on: (at) => [0, 1, 2, 3, 4].map((each) => 5 * at + each) });
    world.nodes = world.nodes.slice(100);
    world.settle();
    assert.equal(Object.values(pools(world)).filter((size) => size === 0).length, 20);
  });

  test("any number of nodes that announce it, before they vanish too", () => {
    const world = aCluster();
    const taint = { key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" };
    const [first] = world.nodes;
    world.nodes = world.nodes.map((node) => (node === first ? node : { ...node, spec: { taints: [taint] } }));
    assert.deepEqual(withheld(world), {});
    world.brake = { ...NO_MEMORY, departed: new Set(world.nodes.slice(1).map(({ metadata }) => metadata.name)) };
    world.nodes = [first!];
    assert.deepEqual(withheld(world), {});
  });

  test("few Services", () => {
    const world = aCluster({ services: 10 });
    world.nodes = world.nodes.slice(9);
    assert.deepEqual(withheld(world), {});
  });

  test("pools of tenants that hold other nodes neither trip it nor take its protection away", () => {
    const calm = aCluster({ nodes: 40, services: 60, on: (at) => (at < 40 ? [at] : [at % 3]) });
    calm.nodes = calm.nodes.slice(3);
    assert.deepEqual(withheld(calm), {}, "three of forty nodes, whichever other Services are there");
    const world = aCluster({ services: 30, on: (at) => (at < 12 ? [at % 3] : [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) });
    world.nodes = world.nodes.slice(8);
    assert.equal(Object.keys(withheld(world)).length, 30, "most nodes of the cluster go");
  });
});

test("what is released goes, and nothing else", () => {
  const world = aCluster({ on: (at) => [at % 8, (at + 1) % 8] });
  world.nodes = world.nodes.slice(8);
  const lines = linesOf(plan(world).withheld);
  const [line = ""] = lines.filter((each) => each.includes("/default-s1 "));
  assert.equal(line, memberWrite(line.split(" ")[1]!, "node1"));
  world.brake = { ...NO_MEMORY, released: new Set(lines) };
  world.settle();
  assert.deepEqual(new Set(Object.values(pools(world))), new Set([0]));
});
