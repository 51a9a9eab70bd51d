import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { aService, PREFIX } from "../../../test/support/core-fixtures.ts";
import { aNode, CoreWorld } from "../../../test/support/core-world.ts";
import * as fc from "../../../test/support/laws.ts";
import type { Compute, NetworkInterface, VirtualMachine } from "../backends/compute.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { BackendPool, LoadBalancer } from "../model/arm.ts";
import { nameOfId } from "../model/ids.ts";
import { holdsInterfaces } from "./backend-pool/merge-backend-pool.ts";

type PoolType = ClusterConfig["poolType"];

const GROUP = "/subscriptions/sub/resourceGroups/rg/providers";
const NAMES = ["one", "two", "three"];
const INTERNAL = { [`${PREFIX}azure-load-balancer-internal`]: "true" };

function machines(): Compute {
  const vm = (name: string): string => `${GROUP}/Microsoft.Compute/virtualMachines/${name}`;
  const nic = (name: string): string => `${GROUP}/Microsoft.Network/networkInterfaces/${name}-nic`;
  const vms = NAMES.map((name): VirtualMachine => ({
    id: vm(name),
    name,
    properties: { networkProfile: { networkInterfaces: [{ id: nic(name) }] } },
  }));
  const nics = NAMES.map((name): NetworkInterface => ({
    id: nic(name),
    name: `${name}-nic`,
    properties: {
      ipConfigurations: [{ name: "ip4", properties: { primary: true } }],
      virtualMachine: { id: vm(name) },
      provisioningState: "Succeeded",
    },
  }));
  const byId = <Body extends { readonly id: string }>(bodies: readonly Body[]): Map<string, Body> =>
    new Map(bodies.map((body) => [body.id.toLowerCase(), body]));
  return { virtualMachines: byId(vms), networkInterfaces: byId(nics), scaleSets: new Map(), instances: new Map() };
}

/** A settled cluster with pools of this type, `web` at a public and `inside` at a private address. */
function aWorld(poolType: PoolType): CoreWorld {
  const world = new CoreWorld({ poolType, vmType: "standard" });
  world.nodes = NAMES.map((name, at) =>
    aNode(name, [`10.240.0.${4 + at}`], { providerID: `azure://${GROUP}/Microsoft.Compute/virtualMachines/${name}` }),
  );
  world.compute = machines();
  world.apply({ metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
  world.apply({ metadata: { name: "inside", annotations: INTERNAL }, spec: { ports: [{ port: 80 }] } });
  world.settle();
  return world;
}

/** The same cluster, started again with other settings. */
function restarted(world: CoreWorld, change: Partial<ClusterConfig>): CoreWorld {
  const next = new CoreWorld({ ...world.config, ...change });
  next.nodes = world.nodes;
  next.services = world.services;
  next.loadBalancers = world.loadBalancers;
  next.listed = world.listed;
  next.securityGroup = world.securityGroup;
  next.members = world.members;
  next.compute = world.compute;
  return next;
}

const accepted = (poolType: PoolType): Partial<ClusterConfig> => ({ poolType, migratesPools: true });
const other = (poolType: PoolType): PoolType => (poolType === "nodeIP" ? "nodeIPConfiguration" : "nodeIP");

function sizeOf({ properties }: BackendPool): number {
  const { backendIPConfigurations = [], loadBalancerBackendAddresses = [] } = properties;
  return Math.max(backendIPConfigurations.length, loadBalancerBackendAddresses.length);
}

function poolsOf({ properties }: LoadBalancer): readonly BackendPool[] {
  return properties.backendAddressPools ?? [];
}

/** No rule sends to a pool that is empty, and no pool holds both types. */
function assertServing({ loadBalancers }: CoreWorld): void {
  for (const loadBalancer of loadBalancers) {
    const pools = new Map(poolsOf(loadBalancer).map((pool) => [pool.name, pool]));
    for (const { name, properties } of loadBalancer.properties.loadBalancingRules ?? []) {
      const pool = pools.get(nameOfId(properties.backendAddressPool?.id ?? ""));
      assert.ok(pool !== undefined && sizeOf(pool) > 0, `${name} sends to an empty pool`);
    }
    for (const { properties } of pools.values()) {
      const { backendIPConfigurations = [], loadBalancerBackendAddresses = [] } = properties;
      assert.ok(backendIPConfigurations.length === 0 || loadBalancerBackendAddresses.length === 0, "a mixed pool");
    }
  }
}

function assertMigrated(world: CoreWorld, poolType: PoolType): void {
  assert.equal(world.loadBalancers.length, 2);
  for (const loadBalancer of world.loadBalancers) {
    assert.deepEqual(
      poolsOf(loadBalancer).map((pool) => [pool.name, sizeOf(pool), holdsInterfaces(pool)]),
      [["kubernetes", NAMES.length, poolType === "nodeIPConfiguration"]],
    );
    const [pool] = poolsOf(loadBalancer);
    assert.equal(pool?.properties.virtualNetwork !== undefined, poolType === "nodeIP", "the VNet is of addresses");
  }
  const joined = [...(world.compute?.networkInterfaces.values() ?? [])].flatMap(
    ({ properties }) => properties.ipConfigurations?.[0]?.properties.loadBalancerBackendAddressPools ?? [],
  );
  assert.equal(joined.length, poolType === "nodeIP" ? 0 : 2 * NAMES.length);
  assert.deepEqual(world.poolSteps(), []);
  for (const service of world.services.values()) assert.equal(world.decide(service).kind, "settled");
}

/** One write after the other; which one of a round comes next is chosen. Answers how many writes it took. */
function migrate(world: CoreWorld, choose: (count: number) => number, most = Number.POSITIVE_INFINITY): number {
  for (let writes = 0; ; writes++) {
    assertServing(world);
    const steps = world.poolSteps();
    const step = steps[choose(steps.length)];
    if (step === undefined || writes === most) return writes;
    assert.ok(writes < 100, "it does not end");
    world.write(aService(), [step]);
  }
}

for (const from of ["nodeIP", "nodeIPConfiguration"] as const) {
  const to = other(from);
  describe(`from ${from} to ${to}`, () => {
    test("law: in whatever order writes arrive, rules always have members, and it ends", () => {
      fc.assert(
        fc.property(fc.array(fc.nat(20), { minLength: 1 }), (picks) => {
          const world = restarted(aWorld(from), accepted(to));
          let at = 0;
          migrate(world, (count) => (picks[at++ % picks.length] ?? 0) % Math.max(1, count));
          assertMigrated(world, to);
        }),
        { numRuns: 30 },
      );
    });

    test("law: set back after any number of writes, it returns the same way", () => {
      const whole = migrate(restarted(aWorld(from), accepted(to)), () => 0);
      for (let writes = 0; writes <= whole; writes++) {
        const begun = restarted(aWorld(from), accepted(to));
        migrate(begun, () => 0, writes);
        const world = restarted(begun, accepted(from));
        migrate(world, () => 0);
        assertMigrated(world, from);
      }
    });

    test("Services come to the same by their own decisions", () => {
      const world = restarted(aWorld(from), accepted(to));
      assert.deepEqual(world.settle(), new Map());
      assertMigrated(world, to);
    });

    test("at any point a Service may come, and all may go", () => {
      const whole = migrate(restarted(aWorld(from), accepted(to)), () => 0);
      for (let writes = 0; writes <= whole; writes++) {
        const world = restarted(aWorld(from), accepted(to));
        migrate(world, () => 0, writes);
        const late = world.apply({ metadata: { name: "late" }, spec: { ports: [{ port: 81 }] } });
        for (let round = 0; round < 4; round++) {
          const service = world.service("late");
          const decision = world.decide(service);
          if (decision.kind === "act") world.write(service, decision.steps);
          assertServing(world);
        }
        assert.ok(late.metadata.uid);
        for (const name of ["late", "web", "inside"]) world.delete(name);
        assert.deepEqual(world.settle(), new Map());
        assert.deepEqual(world.loadBalancers, [], `after ${writes} writes`);
        assert.deepEqual(world.services.size, 0);
      }
    });

    test("unasked: the Service is refused, and nothing is written", () => {
      const world = restarted(aWorld(from), { poolType: to });
      assert.deepEqual(
        [...world.settle().values()].map(({ reason }) => reason),
        ["BackendPoolType", "BackendPoolType"],
      );
      assert.deepEqual(world.poolSteps(), []);
    });

    test("half-way without the flag: refused, with what to do; a left-over second pool goes all the same", () => {
      const whole = migrate(restarted(aWorld(from), accepted(to)), () => 0);
      const half = restarted(aWorld(from), accepted(to));
      migrate(half, () => 0, Math.floor(whole / 2));
      const [rejection] = restarted(half, { poolType: to, migratesPools: false }).settle().values();
      assert.match(rejection?.message ?? "", /holds|is being migrated/);
      const last = restarted(aWorld(from), accepted(to));
      migrate(last, () => 0, whole - 1);
      const unasked = restarted(last, { poolType: to, migratesPools: false });
      migrate(unasked, () => 0);
      if (to === "nodeIPConfiguration") assertMigrated(unasked, to);
    });

    test("rules of other clients on the pool: refused before anything is written", () => {
      const world = restarted(aWorld(from), accepted(to));
      world.loadBalancers = world.loadBalancers.map((body) => {
        const [pool] = poolsOf(body);
        const rule = { name: "egress", properties: { backendAddressPool: { id: pool?.id ?? "" } } };
        return { ...body, properties: { ...body.properties, outboundRules: [rule] } };
      });
      assert.deepEqual(world.poolSteps(), []);
      const [rejection] = world.settle().values();
      assert.match(rejection?.message ?? "", /"kubernetes" has rules that are no Service's \("egress"\)/);
    });
  });
}

for (const from of ["nodeIP", "nodeIPConfiguration"] as const) {
  test(`from ${from}, while no node may be in pools: the second pool stays empty, and no rule sends to it`, () => {
    const world = restarted(aWorld(from), accepted(other(from)));
    world.nodes = world.nodes.map(({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, labels: { "node.kubernetes.io/exclude-from-external-load-balancers": "true" } },
    }));
    assert.ok(migrate(world, () => 0) <= 2);
    for (const { properties } of world.loadBalancers.flatMap((body) => body.properties.loadBalancingRules ?? []))
      assert.equal(nameOfId(properties.backendAddressPool?.id ?? ""), "kubernetes");
  });
}

test("an address of another client: the pool cannot become one of network interfaces", () => {
  const world = restarted(aWorld("nodeIP"), accepted("nodeIPConfiguration"));
  world.loadBalancers = world.loadBalancers.map((body) => {
    const [pool] = poolsOf(body);
    const entries = pool?.properties.loadBalancerBackendAddresses ?? [];
    const theirs = { name: "theirs", properties: { ipAddress: "10.240.9.9" } };
    const properties = { ...pool?.properties, loadBalancerBackendAddresses: [...entries, theirs] };
    return { ...body, properties: { ...body.properties, backendAddressPools: [{ name: "kubernetes", properties }] } };
  });
  assert.deepEqual(world.poolSteps(), []);
  const [rejection] = world.settle().values();
  assert.match(
    rejection?.message ?? "",
    /holds members that are not of this cluster's nodes \("theirs"\).*remove them/,
  );
});

test("by Azure's action: one call for each pool, and the VNet moves to the pool", () => {
  const world = restarted(aWorld("nodeIPConfiguration"), { ...accepted("nodeIP"), migratesByAction: true });
  const steps = world.poolSteps();
  assert.deepEqual(
    steps.map(({ kind, why }) => [kind, why]),
    [
      ["backendPool", 'network interfaces of "kubernetes" become addresses'],
      ["backendPool", 'network interfaces of "kubernetes" become addresses'],
    ],
  );
  world.write(aService(), steps);
  migrate(world, () => 0);
  assertMigrated(world, "nodeIP");
  const [pool] = world.loadBalancers.flatMap(poolsOf);
  assert.ok(pool?.properties.virtualNetwork?.id.endsWith("/virtualNetworks/vnet"));
  assert.ok(pool?.properties.loadBalancerBackendAddresses?.every(({ properties }) => !properties.virtualNetwork));
});
