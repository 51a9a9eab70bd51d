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
  azureWithLoadBalancer,
} from "../../test-fixtures.ts";
import { COMPUTE, NETWORK, type TestAzure } from "../../test-azure.ts";

const NIC = nicId("nic");
const fixed = (privateIPAddress: string) => ({ privateIPAllocationMethod: "Static", privateIPAddress });
const address = (azure: TestAzure, name: string) =>
  azure.get(nicId(name)).body.properties.ipConfigurations[0].properties.privateIPAddress;

describe("a NIC", () => {
  test("is written at once, without an operation, unless it joins or leaves a pool", () => {
    const azure = azureWithLoadBalancer();
    const created = azure.put(NIC, nicBody());
    assert.deepEqual([created.status, created.body.properties.provisioningState], [201, "Succeeded"]);
    assert.equal(created.headers["azure-asyncoperation"], undefined);
    for (const pools of [[POOL], []]) {
      const answer = azure.put(NIC, nicBody(pools));
      assert.deepEqual([answer.status, answer.body.properties.provisioningState], [200, "Updating"]);
      assert.ok(answer.headers["azure-asyncoperation"]);
    }
  });

  test("gets the first free address, keeps it, and gives it back", () => {
    const azure = build(azureWithLoadBalancer(), [nicId("a"), nicBody()], [nicId("b"), nicBody()]);
    assert.deepEqual([address(azure, "a"), address(azure, "b")], ["10.0.0.4", "10.0.0.5"]);
    azure.delete(nicId("a"));
    build(azure, [nicId("b"), nicBody([POOL])], [nicId("c"), nicBody()]);
    assert.deepEqual([address(azure, "b"), address(azure, "c")], ["10.0.0.5", "10.0.0.4"]);
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
      const azure = build(azureWithLoadBalancer(), [nicId("first"), nicBody()]);
      assert.equal(codeOf(azure.put(NIC, body)), code);
      assert.equal(azure.get(NIC).status, 404);
    });
  }

  test("finds a subnet full", () => {
    const azure = azureWithLoadBalancer();
    build(azure, [`${VNET}/subnets/tiny`, { properties: { addressPrefix: "10.0.7.0/29" } }]);
    const body = nicBody([], { subnet: { id: `${VNET}/subnets/tiny` } });
    for (const name of ["a", "b", "c"]) build(azure, [nicId(name), body]);
    assert.equal(codeOf(azure.put(nicId("d"), body)), "SubnetIsFull");
  });

  test("cannot be deleted while a machine has it", () => {
    const azure = build(azureWithLoadBalancer(), [NIC, nicBody()]);
    const vm = `${COMPUTE}/virtualMachines/vm`;
    build(azure, [vm, { location: "eastus", properties: { networkProfile: { networkInterfaces: [{ id: NIC }] } } }]);
    assert.deepEqual(azure.get(NIC).body.properties.virtualMachine, { id: vm });
    assert.equal(codeOf(azure.delete(NIC)), "NicInUse");
    azure.delete(vm);
    assert.equal(azure.delete(NIC).status, 200);
  });
});

describe("a NIC in load balancers", () => {
  test("of one type cannot serve one port for both", () => {
    const other = `${NETWORK}/loadBalancers/other`;
    const azure = azureWithLoadBalancer({ rules: [rule("a")] });
    build(azure, [other, lbBody({ frontends: [frontend("front", "pip2")], rules: [rule("b", {}, other)] })]);
    const answer = azure.put(NIC, nicBody([POOL, poolId("pool", other)]));
    assert.equal(codeOf(answer), "RulesOfSameLoadBalancerTypeUseSameBackendPortProtocolAndIPConfig");
  });

  test("serves a bounded number of rules", () => {
    const azure = azureWithLoadBalancer(
      { rules: [rule("a"), rule("b", { frontendPort: 81, backendPort: 81 })] },
      { limits: { rulesPerNic: 1 } },
    );
    assert.equal(codeOf(azure.put(NIC, nicBody([POOL]))), "LoadBalancerRuleCountLimitReachedForNic");
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
    const azure = azureWithLoadBalancer({ natRules: [nat("one", 5001), nat("two", 5002)] });
    const target = (...names: string[]) =>
      nicBody([], { loadBalancerInboundNatRules: names.map((name) => ({ id: `${LB}/inboundNatRules/${name}` })) });
    assert.equal(codeOf(azure.put(NIC, target("one", "two"))), "RulesUseSameBackendPortProtocolAndIPConfig");
    build(azure, [NIC, target("one")]);
    assert.deepEqual(azure.get(`${LB}/inboundNatRules/one`).body.properties.backendIPConfiguration, {
      id: `${NIC}/ipConfigurations/ipconfig`,
    });
    assert.equal(codeOf(azure.put(nicId("other"), target("one"))), "InboundNatRuleAlreadyInUse");
  });

  test("of a Basic load balancer shares the availability set of the others", () => {
    const azure = azureWithLoadBalancer({ sku: "Basic" });
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
        azure,
        [nicId(nic), nicBody()],
        [`${COMPUTE}/availabilitySets/${set}`, { location: "eastus" }],
        [`${COMPUTE}/virtualMachines/${nic}`, machine(nic, set)],
      );
    }
    build(azure, [nicId("nic1"), nicBody([POOL])]);
    assert.equal(
      codeOf(azure.put(nicId("nic2"), nicBody([POOL]))),
      "NetworkInterfaceAndLoadBalancerAreInDifferentAvailabilitySets",
    );
    const limited = { ...azure.state.options.limits, availabilitySetsPerBasicLoadBalancer: 1 };
    azure.state.options = { ...azure.state.options, limits: limited };
    build(azure, [LB, lbBody({ sku: "Basic", pools: [{ name: "pool" }, { name: "second" }] })]);
    assert.equal(
      codeOf(azure.put(nicId("nic2"), nicBody([poolId("second")]))),
      "MaxAvailabilitySetsInLoadBalancerReached",
    );
  });
});
