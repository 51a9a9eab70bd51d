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
  azureWithLoadBalancer,
} from "../../test-fixtures.ts";
import { NETWORK, type Wire, type TestAzure } from "../../test-azure.ts";

const put = (azure: TestAzure, addresses: unknown) =>
  azure.put(POOL, { properties: { loadBalancerBackendAddresses: addresses } });
const members = (azure: TestAzure): Wire[] => azure.get(POOL).body.properties.loadBalancerBackendAddresses;
const adminStates = (azure: TestAzure) => members(azure).map((item) => item.properties.adminState);

describe("IP members", () => {
  test("are replaced by a pool PUT and by an LB PUT", () => {
    const azure = azureWithLoadBalancer();
    assert.equal(put(azure, [member("a", "10.0.0.1"), member("b", "10.0.0.2")]).status, 200);
    build(azure, [
      LB,
      lbBody({ pools: [{ name: "pool", properties: { loadBalancerBackendAddresses: [member("b", "10.0.0.2")] } }] }),
    ]);
    assert.deepEqual(
      members(azure).map((item) => item.name),
      ["b"],
    );
    build(azure, [LB, lbBody()]);
    assert.deepEqual(members(azure), []);
  });

  test("lose an admin state that a PUT leaves out, unless told otherwise", () => {
    for (const survives of [false, true]) {
      const azure = azureWithLoadBalancer({}, { adminStateSurvives: { ipMembers: survives } });
      put(azure, [member("a", "10.0.0.1", { adminState: "Down" })]);
      assert.deepEqual(adminStates(azure), ["Down"]);
      put(azure, [member("a", "10.0.0.1")]);
      assert.deepEqual(adminStates(azure), [survives ? "Down" : undefined]);
      put(azure, [member("a", "10.0.0.1", { adminState: "None" })]);
      assert.deepEqual(adminStates(azure), [undefined], "None is not echoed");
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
      assert.equal(codeOf(put(azureWithLoadBalancer({}, { limits: { poolSize: 3 } }), addresses)), code);
    }
  });
});

/** Two NICs in the pool. */
function azureWithNics(options = {}): TestAzure {
  return build(azureWithLoadBalancer({}, options), [nicId("nic1"), nicBody([POOL])], [nicId("nic2"), nicBody([POOL])]);
}

describe("NIC members", () => {
  test("show on both sides, under a name of their own", () => {
    const azure = azureWithNics();
    const pool = azure.get(POOL).body;
    const configurations = ["nic1", "nic2"].map((nic) => ({ id: `${nicId(nic)}/ipConfigurations/ipconfig` }));
    assert.deepEqual(pool.properties.backendIPConfigurations, configurations);
    assert.deepEqual(
      members(azure).map((item) => item.properties.networkInterfaceIPConfiguration),
      configurations,
    );
    assert.match(members(azure)[0].name, /^[0-9a-f-]{36}$/);
    assert.deepEqual(
      azure.get(nicId("nic1")).body.properties.ipConfigurations[0].properties.loadBalancerBackendAddressPools,
      [{ id: POOL }],
    );
  });

  test("are untouched by an LB PUT that names the pool without members", () => {
    const azure = azureWithNics();
    build(azure, [LB, lbBody()]);
    assert.equal(members(azure).length, 2);
  });

  test("take an admin state from a pool PUT that changes nothing else, named by reference or by name", () => {
    const azure = azureWithNics();
    const [first, second] = members(azure);
    const down = { ...first, properties: { ...first.properties, adminState: "Down" } };
    assert.equal(put(azure, [down, { name: second.name, properties: { adminState: "Up" } }]).status, 200);
    assert.deepEqual(adminStates(azure), ["Down", "Up"]);
    put(
      azure,
      members(azure).map((item) => ({ ...item, properties: { ...item.properties, adminState: "None" } })),
    );
    assert.deepEqual(adminStates(azure), [undefined, undefined]);
    put(azure, [down, second]);
    assert.deepEqual(adminStates(azure), ["Down", undefined]);
    put(azure, [first, second]);
    assert.deepEqual(adminStates(azure), [undefined, undefined], "a pool PUT replaces what was set");
  });

  test("cannot be added, left out or changed from the pool's side", () => {
    const azure = azureWithNics();
    build(azure, [nicId("nic3"), nicBody()]);
    const [first, second] = members(azure);
    const stranger = {
      name: "x",
      properties: { networkInterfaceIPConfiguration: { id: `${nicId("nic3")}/ipConfigurations/ipconfig` } },
    };
    const renamed = { ...first, name: "renamed" };
    for (const addresses of [[], [first], [first, second, stranger], [renamed, second]]) {
      const answer = put(azure, addresses);
      assert.equal(answer.body.error?.code, "ModificationOfNICIpConfigBackendPoolNotSupported");
    }
    assert.equal(codeOf(put(azure, [first, first, second])), "DuplicateIpConfigurationReferenceOnBackendAddressPool");
    assert.equal(
      codeOf(put(azure, [first, second, member("ip", "10.0.0.1")])),
      "CannotMixIPBasedAddressesAndIPConfigurationsOnLoadBalancerBackendAddressPool",
    );
    assert.equal(members(azure).length, 2);
  });

  test("keep their admin state through an LB PUT, unless told otherwise", () => {
    for (const survives of [true, false]) {
      const azure = azureWithNics({ adminStateSurvives: { nicMembers: survives } });
      put(
        azure,
        members(azure).map((item) => ({ ...item, properties: { ...item.properties, adminState: "Down" } })),
      );
      build(azure, [LB, lbBody()]);
      assert.deepEqual(adminStates(azure), survives ? ["Down", "Down"] : [undefined, undefined]);
    }
  });

  test("start afresh when they leave and come back", () => {
    const azure = azureWithNics();
    put(
      azure,
      members(azure).map((item) => ({ ...item, properties: { ...item.properties, adminState: "Down" } })),
    );
    build(azure, [nicId("nic1"), nicBody()], [nicId("nic1"), nicBody([POOL])]);
    assert.deepEqual(adminStates(azure), [undefined, "Down"]);
  });

  test("do not join a pool of addresses", () => {
    const azure = azureWithLoadBalancer();
    put(azure, [member("a", "10.0.0.1")]);
    const code = "CannotMixIPBasedAddressesAndIPConfigurationsOnLoadBalancerBackendAddressPool";
    assert.equal(codeOf(azure.put(nicId("nic"), nicBody([POOL]))), code);
    assert.equal(codeOf(azure.put(SCALE_SET, scaleSetBody(1, [POOL]))), code);
  });

  test("become addresses by migration, NICs and scale-set instances alike", () => {
    const azure = azureWithNics();
    build(azure, [SCALE_SET, scaleSetBody(1, [POOL])]);
    azure.tailMs = 1_000;
    const answer = azure.send("POST", `${LB}/migrateToIpBased`, { pools: ["pool"] });
    assert.deepEqual([answer.status, answer.body], [200, { migratedPools: ["pool"] }]);
    assert.equal(
      azure.get(POOL).body.properties.backendIPConfigurations.length,
      3,
      "membership changes after the reply",
    );
    azure.nowMs += 1_000;
    assert.deepEqual(
      members(azure).map((item) => item.properties.ipAddress),
      ["10.0.0.4", "10.0.0.5", "10.0.0.6"],
    );
    assert.equal(azure.get(POOL).body.properties.backendIPConfigurations, undefined);
    assert.equal(
      azure.get(nicId("nic1")).body.properties.ipConfigurations[0].properties.loadBalancerBackendAddressPools,
      undefined,
    );
  });
});
