import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  build,
  codeOf,
  LB,
  lbBody,
  member,
  nicBody,
  nicId,
  POOL,
  scaleSetBody,
  SCALE_SET,
  worldWithLoadBalancer,
} from "../../test-fixtures.ts";
import { NETWORK, type Wire, type World } from "../../test-world.ts";

const put = (world: World, addresses: unknown) =>
  world.put(POOL, { properties: { loadBalancerBackendAddresses: addresses } });
const members = (world: World): Wire[] => world.get(POOL).body.properties.loadBalancerBackendAddresses;
const adminStates = (world: World) => members(world).map((item) => item.properties.adminState);

describe("IP members", () => {
  test("are replaced by a pool PUT and by an LB PUT", () => {
    const world = worldWithLoadBalancer();
    assert.equal(put(world, [member("a", "10.0.0.1"), member("b", "10.0.0.2")]).status, 200);
    build(world, [
      LB,
      lbBody({ pools: [{ name: "pool", properties: { loadBalancerBackendAddresses: [member("b", "10.0.0.2")] } }] }),
    ]);
    assert.deepEqual(
      members(world).map((item) => item.name),
      ["b"],
    );
    build(world, [LB, lbBody()]);
    assert.deepEqual(members(world), []);
  });

  test("lose an admin state that a PUT leaves out, unless told otherwise", () => {
    for (const survives of [false, true]) {
      const world = worldWithLoadBalancer({}, { adminStateSurvives: { ipMembers: survives } });
      put(world, [member("a", "10.0.0.1", { adminState: "Down" })]);
      assert.deepEqual(adminStates(world), ["Down"]);
      put(world, [member("a", "10.0.0.1")]);
      assert.deepEqual(adminStates(world), [survives ? "Down" : undefined]);
      put(world, [member("a", "10.0.0.1", { adminState: "None" })]);
      assert.deepEqual(adminStates(world), [undefined], "None is not echoed");
    }
  });

  test("are refused when they make no sense", () => {
    const cases: readonly (readonly [unknown, string])[] = [
      [[member("a", "10.0.0.999")], "InvalidIPAddressFormat"],
      [[member("a", "10.0.0.1"), member("A", "10.0.0.2")], "DuplicateResourceName"],
      [[{ name: "a", properties: { ipAddress: "10.0.0.1" } }], "BackendAddressPoolMissingVirtualNetwork"],
      [[member("a", "10.0.0.1", { adminState: "Sideways" })], "InvalidJson"],
      [
        [member("a", "10.0.0.1", { virtualNetwork: { id: `${NETWORK}/virtualNetworks/none` } })],
        "InvalidResourceReference",
      ],
      [
        Array.from({ length: 4 }, (_, index) => member(`m${index}`, `10.0.0.${index}`)),
        "BackendAddressPoolSizeLimitReached",
      ],
    ];
    for (const [addresses, code] of cases) {
      assert.equal(codeOf(put(worldWithLoadBalancer({}, { limits: { poolSize: 3 } }), addresses)), code);
    }
  });
});

/** A world in which two NICs are in the pool. */
function worldWithNics(options = {}): World {
  return build(worldWithLoadBalancer({}, options), [nicId("nic1"), nicBody([POOL])], [nicId("nic2"), nicBody([POOL])]);
}

describe("NIC members", () => {
  test("show on both sides, under a name of their own", () => {
    const world = worldWithNics();
    const pool = world.get(POOL).body;
    const configurations = ["nic1", "nic2"].map((nic) => ({ id: `${nicId(nic)}/ipConfigurations/ipconfig` }));
    assert.deepEqual(pool.properties.backendIPConfigurations, configurations);
    assert.deepEqual(
      members(world).map((item) => item.properties.networkInterfaceIPConfiguration),
      configurations,
    );
    assert.match(members(world)[0].name, /^[0-9a-f-]{36}$/);
    assert.deepEqual(
      world.get(nicId("nic1")).body.properties.ipConfigurations[0].properties.loadBalancerBackendAddressPools,
      [{ id: POOL }],
    );
  });

  test("are untouched by an LB PUT that names the pool without members", () => {
    const world = worldWithNics();
    build(world, [LB, lbBody()]);
    assert.equal(members(world).length, 2);
  });

  test("take an admin state from a pool PUT that changes nothing else, named by reference or by name", () => {
    const world = worldWithNics();
    const [first, second] = members(world);
    const down = { ...first, properties: { ...first.properties, adminState: "Down" } };
    assert.equal(put(world, [down, { name: second.name, properties: { adminState: "Up" } }]).status, 200);
    assert.deepEqual(adminStates(world), ["Down", "Up"]);
    put(
      world,
      members(world).map((item) => ({ ...item, properties: { ...item.properties, adminState: "None" } })),
    );
    assert.deepEqual(adminStates(world), [undefined, undefined]);
    put(world, [down, second]);
    assert.deepEqual(adminStates(world), ["Down", undefined]);
    put(world, [first, second]);
    assert.deepEqual(adminStates(world), [undefined, undefined], "a pool PUT replaces what was set");
  });

  test("cannot be added, left out or changed from the pool's side", () => {
    const world = worldWithNics();
    build(world, [nicId("nic3"), nicBody()]);
    const [first, second] = members(world);
    const stranger = {
      name: "x",
      properties: { networkInterfaceIPConfiguration: { id: `${nicId("nic3")}/ipConfigurations/ipconfig` } },
    };
    const renamed = { ...first, name: "renamed" };
    for (const addresses of [[], [first], [first, second, stranger], [renamed, second]]) {
      const answer = put(world, addresses);
      assert.equal(answer.body.error?.code, "ModificationOfNICIpConfigBackendPoolNotSupported");
    }
    assert.equal(codeOf(put(world, [first, first, second])), "DuplicateIpConfigurationReferenceOnBackendAddressPool");
    assert.equal(
      codeOf(put(world, [first, second, member("ip", "10.0.0.1")])),
      "CannotMixIPBasedAddressesAndIPConfigurationsOnLoadBalancerBackendAddressPool",
    );
    assert.equal(members(world).length, 2);
  });

  test("keep their admin state through an LB PUT, unless told otherwise", () => {
    for (const survives of [true, false]) {
      const world = worldWithNics({ adminStateSurvives: { nicMembers: survives } });
      put(
        world,
        members(world).map((item) => ({ ...item, properties: { ...item.properties, adminState: "Down" } })),
      );
      build(world, [LB, lbBody()]);
      assert.deepEqual(adminStates(world), survives ? ["Down", "Down"] : [undefined, undefined]);
    }
  });

  test("start afresh when they leave and come back", () => {
    const world = worldWithNics();
    put(
      world,
      members(world).map((item) => ({ ...item, properties: { ...item.properties, adminState: "Down" } })),
    );
    build(world, [nicId("nic1"), nicBody()], [nicId("nic1"), nicBody([POOL])]);
    assert.deepEqual(adminStates(world), [undefined, "Down"]);
  });

  test("do not join a pool of addresses", () => {
    const world = worldWithLoadBalancer();
    put(world, [member("a", "10.0.0.1")]);
    const code = "CannotMixIPBasedAddressesAndIPConfigurationsOnLoadBalancerBackendAddressPool";
    assert.equal(codeOf(world.put(nicId("nic"), nicBody([POOL]))), code);
    assert.equal(codeOf(world.put(SCALE_SET, scaleSetBody(1, [POOL]))), code);
  });

  test("become addresses by migration, NICs and scale-set instances alike", () => {
    const world = worldWithNics();
    build(world, [SCALE_SET, scaleSetBody(1, [POOL])]);
    world.tailMs = 1_000;
    const answer = world.send("POST", `${LB}/migrateToIpBased`, { pools: ["pool"] });
    assert.deepEqual([answer.status, answer.body], [200, { migratedPools: ["pool"] }]);
    assert.equal(
      world.get(POOL).body.properties.backendIPConfigurations.length,
      3,
      "membership changes after the reply",
    );
    world.nowMs += 1_000;
    assert.deepEqual(
      members(world).map((item) => item.properties.ipAddress),
      ["10.0.0.4", "10.0.0.5", "10.0.0.6"],
    );
    assert.equal(world.get(POOL).body.properties.backendIPConfigurations, undefined);
    assert.equal(
      world.get(nicId("nic1")).body.properties.ipConfigurations[0].properties.loadBalancerBackendAddressPools,
      undefined,
    );
  });
});
