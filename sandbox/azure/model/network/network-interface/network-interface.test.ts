import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  build,
  codeOf,
  frontend,
  LB,
  lbBody,
  nicBody,
  nicId,
  pipId,
  POOL,
  poolId,
  rule,
  SUBNET,
  VNET,
  worldWithLoadBalancer,
} from "../../test-fixtures.ts";
import { COMPUTE, NETWORK, type World } from "../../test-world.ts";

const NIC = nicId("nic");
const fixed = (privateIPAddress: string) => ({ privateIPAllocationMethod: "Static", privateIPAddress });
const address = (world: World, name: string) =>
  world.get(nicId(name)).body.properties.ipConfigurations[0].properties.privateIPAddress;

describe("a NIC", () => {
  test("is written at once, without an operation, unless it joins or leaves a pool", () => {
    const world = worldWithLoadBalancer();
    const created = world.put(NIC, nicBody());
    assert.deepEqual([created.status, created.body.properties.provisioningState], [201, "Succeeded"]);
    assert.equal(created.headers["azure-asyncoperation"], undefined);
    for (const pools of [[POOL], []]) {
      const answer = world.put(NIC, nicBody(pools));
      assert.deepEqual([answer.status, answer.body.properties.provisioningState], [200, "Updating"]);
      assert.ok(answer.headers["azure-asyncoperation"]);
    }
  });

  test("gets the first free address, keeps it, and gives it back", () => {
    const world = build(worldWithLoadBalancer(), [nicId("a"), nicBody()], [nicId("b"), nicBody()]);
    assert.deepEqual([address(world, "a"), address(world, "b")], ["10.0.0.4", "10.0.0.5"]);
    world.delete(nicId("a"));
    build(world, [nicId("b"), nicBody([POOL])], [nicId("c"), nicBody()]);
    assert.deepEqual([address(world, "b"), address(world, "c")], ["10.0.0.5", "10.0.0.4"]);
  });

  const refusals: readonly (readonly [string, unknown, string])[] = [
    ["an address elsewhere", nicBody([], fixed("10.9.0.4")), "PrivateIPAddressNotInSubnet"],
    ["the network's own address", nicBody([], fixed("10.0.0.3")), "PrivateIPAddressInReservedRange"],
    ["the last address", nicBody([], fixed("10.0.0.255")), "PrivateIPAddressInReservedRange"],
    ["an address that is taken", nicBody([], fixed("10.0.0.4")), "PrivateIPAddressIsAllocated"],
    [
      "one pool twice",
      nicBody([POOL, POOL.toUpperCase().replace("/SUBSCRIPTIONS", "/subscriptions")]),
      "DuplicateIpConfigurationReferenceOnBackendAddressPool",
    ],
    ["a pool that is not there", nicBody([poolId("none")]), "InvalidResourceReference"],
    ["a public address in use", nicBody([], { publicIPAddress: { id: pipId("pip1") } }), "PublicIPAddressInUse"],
    ["no subnet", nicBody([], { subnet: undefined }), "NetworkInterfaceIPConfigurationHasNoSubnet"],
    ["no configuration", { location: "eastus", properties: {} }, "NetworkInterfaceMustHaveAtLeastOneIPConfiguration"],
    ["another region", { ...nicBody(), location: "westus" }, "InvalidResourceReference"],
    [
      "two subnets",
      {
        location: "eastus",
        properties: {
          ipConfigurations: [SUBNET, `${VNET}/subnets/links`].map((id, index) => ({
            name: `i${index}`,
            properties: { subnet: { id } },
          })),
        },
      },
      "IpConfigurationsOnSameNicCannotUseDifferentSubnets",
    ],
  ];
  for (const [what, body, code] of refusals) {
    test(`is refused ${what}`, () => {
      const world = build(worldWithLoadBalancer(), [nicId("first"), nicBody()]);
      assert.equal(codeOf(world.put(NIC, body)), code);
      assert.equal(world.get(NIC).status, 404);
    });
  }

  test("finds a subnet full", () => {
    const world = worldWithLoadBalancer();
    build(world, [`${VNET}/subnets/tiny`, { properties: { addressPrefix: "10.0.7.0/29" } }]);
    const body = nicBody([], { subnet: { id: `${VNET}/subnets/tiny` } });
    for (const name of ["a", "b", "c"]) build(world, [nicId(name), body]);
    assert.equal(codeOf(world.put(nicId("d"), body)), "SubnetIsFull");
  });

  test("cannot be deleted while a machine has it", () => {
    const world = build(worldWithLoadBalancer(), [NIC, nicBody()]);
    const vm = `${COMPUTE}/virtualMachines/vm`;
    build(world, [vm, { location: "eastus", properties: { networkProfile: { networkInterfaces: [{ id: NIC }] } } }]);
    assert.deepEqual(world.get(NIC).body.properties.virtualMachine, { id: vm });
    assert.equal(codeOf(world.delete(NIC)), "NicInUse");
    world.delete(vm);
    assert.equal(world.delete(NIC).status, 200);
  });
});

describe("a NIC in load balancers", () => {
  test("of one type cannot serve one port for both", () => {
    const other = `${NETWORK}/loadBalancers/other`;
    const world = worldWithLoadBalancer({ rules: [rule("a")] });
    build(world, [other, lbBody({ frontends: [frontend("front", "pip2")], rules: [rule("b", {}, other)] })]);
    const answer = world.put(NIC, nicBody([POOL, poolId("pool", other)]));
    assert.equal(codeOf(answer), "RulesOfSameLoadBalancerTypeUseSameBackendPortProtocolAndIPConfig");
  });

  test("serves a bounded number of rules", () => {
    const world = worldWithLoadBalancer(
      { rules: [rule("a"), rule("b", { frontendPort: 81, backendPort: 81 })] },
      { limits: { rulesPerNic: 1 } },
    );
    assert.equal(codeOf(world.put(NIC, nicBody([POOL]))), "LoadBalancerRuleCountLimitReachedForNic");
  });

  test("is the target of NAT rules, one per backend port, and they of it alone", () => {
    const nat = (name: string, frontendPort: number) => ({
      name,
      properties: {
        protocol: "Tcp",
        frontendPort,
        backendPort: 22,
        frontendIPConfiguration: { id: `${LB}/frontendIPConfigurations/front` },
      },
    });
    const world = worldWithLoadBalancer({ natRules: [nat("one", 5001), nat("two", 5002)] });
    const target = (...names: string[]) =>
      nicBody([], { loadBalancerInboundNatRules: names.map((name) => ({ id: `${LB}/inboundNatRules/${name}` })) });
    assert.equal(codeOf(world.put(NIC, target("one", "two"))), "RulesUseSameBackendPortProtocolAndIPConfig");
    build(world, [NIC, target("one")]);
    assert.deepEqual(world.get(`${LB}/inboundNatRules/one`).body.properties.backendIPConfiguration, {
      id: `${NIC}/ipConfigurations/ipconfig`,
    });
    assert.equal(codeOf(world.put(nicId("other"), target("one"))), "InboundNatRuleAlreadyInUse");
  });

  test("of a Basic load balancer shares the availability set of the others", () => {
    const world = worldWithLoadBalancer({ sku: "Basic" });
    const machine = (nic: string, set: string) => ({
      location: "eastus",
      properties: {
        availabilitySet: { id: `${COMPUTE}/availabilitySets/${set}` },
        networkProfile: { networkInterfaces: [{ id: nicId(nic) }] },
      },
    });
    for (const [nic, set] of [
      ["nic1", "one"],
      ["nic2", "two"],
    ] as const) {
      build(
        world,
        [nicId(nic), nicBody()],
        [`${COMPUTE}/availabilitySets/${set}`, { location: "eastus" }],
        [`${COMPUTE}/virtualMachines/${nic}`, machine(nic, set)],
      );
    }
    build(world, [nicId("nic1"), nicBody([POOL])]);
    assert.equal(
      codeOf(world.put(nicId("nic2"), nicBody([POOL]))),
      "NetworkInterfaceAndLoadBalancerAreInDifferentAvailabilitySets",
    );
    const limited = { ...world.state.options.limits, availabilitySetsPerBasicLoadBalancer: 1 };
    world.state.options = { ...world.state.options, limits: limited };
    build(world, [LB, lbBody({ sku: "Basic", pools: [{ name: "pool" }, { name: "second" }] })]);
    assert.equal(
      codeOf(world.put(nicId("nic2"), nicBody([poolId("second")]))),
      "MaxAvailabilitySetsInLoadBalancerReached",
    );
  });
});
