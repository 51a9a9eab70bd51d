/** Random bodies for a small set of resources: few names, so that they interact; mostly valid, so that some are accepted. */
import * as fc from "fast-check";
import { COMPUTE, NETWORK } from "./test-azure.ts";

type Body = fc.Arbitrary<unknown>;

function mostly<Value>(usual: Value, ...others: readonly Value[]): fc.Arbitrary<Value> {
  return fc.oneof({ weight: 9, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
}

const location = mostly("eastus", "East US", "westus");
const sku = mostly<unknown>({ name: "Standard" }, { name: "Basic" }, undefined);
const tags = fc.constantFrom(undefined, { a: "1" }, { a: "2" });
const pipId = name("publicIPAddresses", ["p0", "p1", "P2"]);
const nsgId = name("networkSecurityGroups", ["n0"]);
const subnetId = fc.constantFrom("s0", "s1").map((subnet) => `${NETWORK}/virtualNetworks/vnet/subnets/${subnet}`);
const poolId = fc
  .tuple(fc.constantFrom("l0", "l0", "L1"), fc.constantFrom("b0", "b1"))
  .map(([lb, pool]) => `${NETWORK}/loadBalancers/${lb}/backendAddressPools/${pool}`);
const nicId = name("networkInterfaces", ["c0", "c1"]);

function name(type: string, names: readonly string[]): fc.Arbitrary<string> {
  return fc.constantFrom(...names).map((item) => `${NETWORK}/${type}/${item}`);
}

function ref(id: fc.Arbitrary<string>): Body {
  return id.map((value) => ({ id: value }));
}

function few<Item>(items: readonly Item[]): fc.Arbitrary<Item[]> {
  return fc.subarray([...items]);
}

const publicIp: Body = fc.record({
  location,
  sku,
  tags,
  properties: fc.record(
    {
      publicIPAllocationMethod: mostly("Static", "Dynamic"),
      dnsSettings: fc.constantFrom({ domainNameLabel: "one" }, { domainNameLabel: "two" }),
      idleTimeoutInMinutes: fc.constantFrom(4, 5),
    },
    { requiredKeys: ["publicIPAllocationMethod"] },
  ),
});

const securityRule = fc.record({
  name: mostly("r0", "r1", "bad/name"),
  properties: fc.record({
    priority: mostly(100, 101, 102, 5),
    direction: fc.constantFrom("Inbound", "Outbound"),
    access: fc.constant("Allow"),
    protocol: fc.constantFrom("Tcp", "*"),
    sourceAddressPrefix: mostly("*", "10.0.0.0/8", "10.0.0.1/8"),
    sourcePortRange: fc.constant("*"),
    destinationAddressPrefix: fc.constantFrom("*", "Internet"),
    destinationPortRange: mostly("80", "80-90", "80,90"),
  }),
});

const securityGroup: Body = fc.record({
  location,
  tags,
  properties: fc.record({ securityRules: fc.array(securityRule, { maxLength: 2 }) }),
});

const subnet = (index: number) =>
  fc.record({
    name: fc.constant(`s${index}`),
    properties: fc.record(
      {
        addressPrefix: mostly(`10.0.${index}.0/24`, "10.0.0.0/29", "nonsense"),
        networkSecurityGroup: ref(nsgId),
        privateLinkServiceNetworkPolicies: fc.constantFrom("Disabled", "Enabled"),
      },
      { requiredKeys: ["addressPrefix"] },
    ),
  });

const virtualNetwork: Body = fc
  .tuple(location, subnet(0), subnet(1), few([0, 1]))
  .map(([where, first, second, kept]) => ({
    location: where,
    properties: {
      addressSpace: { addressPrefixes: ["10.0.0.0/16"] },
      subnets: kept.map((index) => (index === 0 ? first : second)),
    },
  }));

function frontend(index: number): Body {
  return fc.record({
    name: fc.constant(`f${index}`),
    properties: fc.oneof(
      { weight: 12, arbitrary: fc.record({ publicIPAddress: ref(pipId) }) },
      { weight: 4, arbitrary: fc.record({ subnet: ref(subnetId) }) },
      { weight: 1, arbitrary: fc.constant({}) },
    ),
  });
}

const member = fc.record({
  name: fc.constantFrom("m0", "m1", "m2"),
  properties: fc.record(
    {
      ipAddress: mostly("10.0.0.9", "10.0.0.10", "x"),
      virtualNetwork: fc.constant({ id: `${NETWORK}/virtualNetworks/vnet` }),
      adminState: fc.constantFrom("None", "Up", "Down"),
    },
    { requiredKeys: ["ipAddress", "virtualNetwork"] },
  ),
});

const members = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.array(member, { maxLength: 3 }) },
);
const poolBody: Body = fc.record({ properties: fc.record({ loadBalancerBackendAddresses: members }) });

function rule(lb: string, index: number): Body {
  const inner = (collection: string, names: readonly string[]) =>
    fc.constantFrom(...names).map((item) => ({ id: `${NETWORK}/loadBalancers/${lb}/${collection}/${item}` }));
  return fc.record({
    name: fc.constant(`rule${index}`),
    properties: fc.record(
      {
        protocol: fc.constantFrom("Tcp", "Udp"),
        frontendPort: fc.constantFrom(80, 81, 443),
        backendPort: fc.constantFrom(80, 81),
        frontendIPConfiguration: inner("frontendIPConfigurations", ["f0", "F0", "f1"]),
        backendAddressPool: inner("backendAddressPools", ["b0", "b1"]),
        probe: inner("probes", ["q0"]),
        enableFloatingIP: fc.boolean(),
      },
      { requiredKeys: ["protocol", "frontendPort", "backendPort", "frontendIPConfiguration"] },
    ),
  });
}

function loadBalancer(lb: string): Body {
  const parts = fc.tuple(
    location,
    sku,
    few([0, 1]),
    fc.tuple(frontend(0), frontend(1)),
    few(["b0", "b1"]),
    members,
    few([0, 1]),
    fc.tuple(rule(lb, 0), rule(lb, 1)),
  );
  return parts.map(([where, size, fronts, [f0, f1], pools, addresses, rules, [r0, r1]]) => ({
    location: where,
    sku: size,
    properties: {
      somethingNew: { kept: [1, 2] },
      frontendIPConfigurations: fronts.map((index) => (index === 0 ? f0 : f1)),
      backendAddressPools: pools.map((pool, index) => ({
        name: pool,
        properties: { loadBalancerBackendAddresses: index === 0 ? addresses : [] },
      })),
      probes: [{ name: "q0", properties: { protocol: "Tcp", port: 80 } }].slice(0, fronts.length),
      loadBalancingRules: rules.map((index) => (index === 0 ? r0 : r1)),
    },
  }));
}

const plainAddress = fc.constant({});
const oddAddress = fc.record({
  publicIPAddress: ref(pipId),
  privateIPAllocationMethod: fc.constantFrom("Dynamic", "Static"),
  privateIPAddress: fc.constantFrom("10.0.0.4", "10.0.0.5", "10.0.0.1", "10.0.1.9"),
});
const ipConfiguration = (index: number) =>
  fc
    .tuple(
      fc.array(ref(poolId), { maxLength: 2 }),
      fc.oneof({ weight: 4, arbitrary: plainAddress }, { weight: 1, arbitrary: oddAddress }),
    )
    .map(([pools, address]) => ({
      name: `i${index}`,
      properties: {
        subnet: { id: `${NETWORK}/virtualNetworks/vnet/subnets/s0` },
        loadBalancerBackendAddressPools: pools,
        ...address,
      },
    }));
const networkInterface: Body = fc.record({
  location,
  properties: fc.record(
    {
      ipConfigurations: fc.oneof(
        ipConfiguration(0).map((only) => [only]),
        fc.tuple(ipConfiguration(0), ipConfiguration(1)).map((both) => [...both]),
      ),
      networkSecurityGroup: ref(nsgId),
    },
    { requiredKeys: ["ipConfigurations"] },
  ),
});

const virtualMachine: Body = fc.record({
  location,
  properties: fc.record({ networkProfile: fc.record({ networkInterfaces: fc.array(ref(nicId), { maxLength: 1 }) }) }),
});

const scaleSet: Body = fc
  .tuple(
    location,
    fc.constantFrom(0, 1, 2),
    fc.constantFrom("Uniform", "Flexible"),
    fc.constantFrom("Manual", "Automatic"),
    subnetId,
    fc.array(ref(poolId), { maxLength: 1 }),
  )
  .map(([where, capacity, orchestrationMode, mode, subnetOf, pools]) => {
    const ip = { name: "ip", properties: { subnet: { id: subnetOf }, loadBalancerBackendAddressPools: pools } };
    const nic = { name: "nic", properties: { primary: true, ipConfigurations: [ip] } };
    const networkProfile = { networkInterfaceConfigurations: [nic] };
    const virtualMachineProfile = { osProfile: { computerNamePrefix: "node" }, networkProfile };
    return {
      location: where,
      sku: { name: "D2", capacity },
      properties: { orchestrationMode, upgradePolicy: { mode }, virtualMachineProfile },
    };
  });

const privateLinkService: Body = fc
  .tuple(location, subnetId, fc.constantFrom("l0", "L1"))
  .map(([where, subnetOf, lb]) => ({
    location: where,
    properties: {
      ipConfigurations: [{ name: "nat", properties: { subnet: { id: subnetOf } } }],
      loadBalancerFrontendIpConfigurations: [{ id: `${NETWORK}/loadBalancers/${lb}/frontendIPConfigurations/f0` }],
    },
  }));

/** A path to write, and random bodies for it. */
export type Target = readonly [path: string, body: Body];

export const TARGETS: readonly Target[] = [
  ...["p0", "p1", "p2"].map((item): Target => [`${NETWORK}/publicIPAddresses/${item}`, publicIp]),
  [`${NETWORK}/networkSecurityGroups/n0`, securityGroup],
  [`${NETWORK}/networkSecurityGroups/n0/securityRules/r0`, securityRule],
  [`${NETWORK}/virtualNetworks/vnet`, virtualNetwork],
  [`${NETWORK}/virtualNetworks/vnet/subnets/s0`, subnet(0)],
  ...["l0", "l1"].map((item): Target => [`${NETWORK}/loadBalancers/${item}`, loadBalancer(item)]),
  ...["l0", "l0", "l1"].map((item): Target => [`${NETWORK}/loadBalancers/${item}/backendAddressPools/b0`, poolBody]),
  ...["c0", "c1"].map((item): Target => [`${NETWORK}/networkInterfaces/${item}`, networkInterface]),
  [`${NETWORK}/privateLinkServices/k0`, privateLinkService],
  [`${COMPUTE}/virtualMachines/m0`, virtualMachine],
  [`${COMPUTE}/virtualMachineScaleSets/x0`, scaleSet],
];
