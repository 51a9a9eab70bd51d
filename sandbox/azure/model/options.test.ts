import assert from "node:assert/strict";
import { test } from "node:test";
import { AZURE_LIMITS, withOptions, type Limits } from "./index.ts";
import {
  build,
  codeOf,
  frontend,
  LB,
  lbBody,
  member,
  nicBody,
  nicId,
  NSG,
  pipId,
  POOL,
  poolId,
  PUBLIC_IP,
  rule,
  SCALE_SET,
  scaleSetBody,
  VIRTUAL_NETWORK,
  VNET,
  azureWithLoadBalancer,
  type LbParts,
} from "./test-fixtures.ts";
import { COMPUTE, NETWORK, type TestAzure } from "./test-azure.ts";

type Write = readonly [path: string, body: unknown];

interface Limit {
  readonly parts?: LbParts;
  /** What passes with the limit at `at`. */
  readonly within?: readonly Write[];
  /** What is one too many. */
  readonly beyond: Write;
  readonly at?: number;
  readonly code: string;
}

const OTHER_LB = `${NETWORK}/loadBalancers/other`;
const addresses = (count: number) => ({
  properties: {
    loadBalancerBackendAddresses: Array.from({ length: count }, (_, index) => member(`m${index}`, `10.0.0.${index}`)),
  },
});
const ports = (...values: number[]) =>
  values.map((port) => rule(`r${port}`, { frontendPort: port, backendPort: port }));
const outbound = (name: string, front: string) => ({
  name,
  properties: {
    protocol: "All",
    frontendIPConfigurations: [{ id: `${LB}/frontendIPConfigurations/${front}` }],
    backendAddressPool: { id: POOL },
  },
});
const two = [frontend("front", "pip1"), frontend("front2", "pip2")];
const group = (count: number) => ({
  location: "eastus",
  properties: {
    securityRules: Array.from({ length: count }, (_, index) => ({
      name: `r${index}`,
      properties: {
        priority: 100 + index,
        direction: "Inbound",
        access: "Allow",
        protocol: "Tcp",
        sourceAddressPrefix: `10.0.0.${index}`,
        sourcePortRange: "*",
        destinationAddressPrefix: "*",
        destinationPortRange: "80",
      },
    })),
  },
});
const prefix = (prefixLength: number, publicIPAddressVersion: string) => ({
  location: "eastus",
  properties: { prefixLength, publicIPAddressVersion },
});
const configurations = (count: number) => ({
  location: "eastus",
  properties: {
    ipConfigurations: Array.from({ length: count }, (_, index) => ({
      name: `i${index}`,
      properties: { subnet: { id: `${VNET}/subnets/nodes` } },
    })),
  },
});
const link = (count: number) => ({
  location: "eastus",
  properties: {
    loadBalancerFrontendIpConfigurations: [{ id: `${LB}/frontendIPConfigurations/front` }],
    ipConfigurations: Array.from({ length: count }, (_, index) => ({
      name: `i${index}`,
      properties: { subnet: { id: `${VNET}/subnets/links` } },
    })),
  },
});
const inSet = (nic: string, set: string): Write[] => [
  [nicId(nic), nicBody()],
  [`${COMPUTE}/availabilitySets/${set}`, { location: "eastus" }],
  [
    `${COMPUTE}/virtualMachines/${nic}`,
    {
      location: "eastus",
      properties: {
        availabilitySet: { id: `${COMPUTE}/availabilitySets/${set}` },
        networkProfile: { networkInterfaces: [{ id: nicId(nic) }] },
      },
    },
  ],
];
const secondPool = { sku: "Basic", pools: [{ name: "pool" }, { name: "second" }] };

const LIMITS: Readonly<Record<keyof Limits, Limit>> = {
  loadBalancers: {
    beyond: [OTHER_LB, lbBody({ frontends: [frontend("front", "pip2")] })],
    code: "LoadBalancerCountLimitReached",
  },
  frontendsPerLoadBalancer: {
    beyond: [LB, lbBody({ frontends: two })],
    code: "FrontendIPConfigurationCountLimitReached",
  },
  rulesPerLoadBalancer: {
    within: [[LB, lbBody({ rules: ports(80) })]],
    beyond: [LB, lbBody({ rules: ports(80, 81) })],
    code: "LoadBalancerRuleCountLimitReached",
  },
  outboundRulesPerLoadBalancer: {
    within: [[LB, lbBody({ frontends: two, outboundRules: [outbound("a", "front")] })]],
    beyond: [LB, lbBody({ frontends: two, outboundRules: [outbound("a", "front"), outbound("b", "front2")] })],
    code: "OutboundRuleCountLimitReached",
  },
  rulesPerNic: {
    within: [
      [nicId("nic"), nicBody([POOL])],
      [LB, lbBody({ rules: ports(80) })],
    ],
    beyond: [LB, lbBody({ rules: ports(80, 81) })],
    code: "LoadBalancerRuleCountLimitReachedForNic",
  },
  poolSize: {
    within: [[POOL, addresses(1)]],
    beyond: [POOL, addresses(2)],
    code: "BackendAddressPoolSizeLimitReached",
  },
  globalPoolSize: {
    within: [[OTHER_LB, globalLb(1)]],
    beyond: [OTHER_LB, globalLb(2)],
    code: "BackendAddressPoolSizeLimitReached",
  },
  backendIpConfigurationsPerFrontend: {
    within: [
      [POOL, addresses(1)],
      [LB, { ...lbBody({ pools: [{ name: "pool", ...addresses(1) }], rules: ports(80) }) }],
    ],
    beyond: [LB, lbBody({ pools: [{ name: "pool", ...addresses(2) }], rules: ports(80) })],
    code: "BackendIPConfigurationCountLimitReachedForFrontend",
  },
  backendIpConfigurationsPerLoadBalancer: {
    within: [[LB, lbBody({ pools: [{ name: "pool", ...addresses(1) }], rules: ports(80) })]],
    beyond: [LB, lbBody({ pools: [{ name: "pool", ...addresses(1) }], rules: ports(80, 81) })],
    code: "BackendIPConfigurationCountLimitReached",
  },
  basicFrontendsPerLoadBalancer: {
    parts: { sku: "Basic" },
    beyond: [LB, lbBody({ sku: "Basic", frontends: two })],
    code: "FrontendIPConfigurationCountLimitReached",
  },
  basicRulesPerLoadBalancer: {
    parts: { sku: "Basic" },
    beyond: [LB, lbBody({ sku: "Basic", rules: ports(80, 81) })],
    code: "LoadBalancerRuleCountLimitReached",
  },
  basicPoolSize: {
    parts: { sku: "Basic" },
    within: [[nicId("a"), nicBody([POOL])]],
    beyond: [nicId("b"), nicBody([POOL])],
    code: "BackendAddressPoolSizeLimitReached",
  },
  availabilitySetsPerBasicLoadBalancer: {
    parts: secondPool,
    within: [...inSet("a", "one"), ...inSet("b", "two"), [nicId("a"), nicBody([POOL])]],
    beyond: [nicId("b"), nicBody([poolId("second")])],
    code: "MaxAvailabilitySetsInLoadBalancerReached",
  },
  networkSecurityGroups: {
    within: [[NSG, group(0)]],
    beyond: [`${NSG}2`, group(0)],
    code: "NetworkSecurityGroupCountLimitReached",
  },
  rulesPerSecurityGroup: {
    within: [[NSG, group(1)]],
    beyond: [NSG, group(2)],
    code: "SecurityRulesPerSecurityGroupLimitReached",
  },
  addressesOrPortsPerSecurityGroup: {
    within: [[NSG, group(1)]],
    beyond: [NSG, group(2)],
    code: "SecurityRuleAddressesOrPortsPerSecurityGroupLimitReached",
  },
  virtualNetworks: { beyond: [`${VNET}2`, VIRTUAL_NETWORK], code: "VirtualNetworkCountLimitReached" },
  subnetsPerVirtualNetwork: {
    at: 2,
    beyond: [`${VNET}/subnets/third`, { properties: { addressPrefix: "10.0.3.0/24" } }],
    code: "SubnetCountLimitReached",
  },
  networkInterfaces: {
    within: [[nicId("a"), nicBody()]],
    beyond: [nicId("b"), nicBody()],
    code: "NetworkInterfaceCountLimitReached",
  },
  privateAddressesPerVirtualNetwork: {
    within: [[nicId("a"), nicBody()]],
    beyond: [nicId("b"), nicBody()],
    code: "PrivateIPAddressCountLimitReached",
  },
  ipConfigurationsPerNic: {
    within: [[nicId("a"), configurations(1)]],
    beyond: [nicId("a"), configurations(2)],
    code: "IPConfigurationCountLimitReached",
  },
  publicIps: { at: 3, beyond: [pipId("fourth"), PUBLIC_IP], code: "PublicIPCountLimitReached" },
  staticPublicIps: { at: 3, beyond: [pipId("fourth"), PUBLIC_IP], code: "StaticPublicIPCountLimitReached" },
  standardPublicIps: { at: 3, beyond: [pipId("fourth"), PUBLIC_IP], code: "StandardSkuPublicIPCountLimitReached" },
  shortestPublicPrefixIpv4: {
    at: 30,
    within: [[`${NETWORK}/publicIPPrefixes/a`, prefix(30, "IPv4")]],
    beyond: [`${NETWORK}/publicIPPrefixes/b`, prefix(29, "IPv4")],
    code: "PublicIpPrefixLengthNotAllowed",
  },
  shortestPublicPrefixIpv6: {
    at: 126,
    within: [[`${NETWORK}/publicIPPrefixes/a`, prefix(126, "IPv6")]],
    beyond: [`${NETWORK}/publicIPPrefixes/b`, prefix(125, "IPv6")],
    code: "PublicIpPrefixLengthNotAllowed",
  },
  instancesPerScaleSet: {
    within: [[SCALE_SET, scaleSetBody(1)]],
    beyond: [SCALE_SET, scaleSetBody(2)],
    code: "InvalidParameter",
  },
  natAddressesPerPrivateLinkService: {
    within: [[`${NETWORK}/privateLinkServices/a`, link(1)]],
    beyond: [`${NETWORK}/privateLinkServices/a`, link(2)],
    code: "PrivateLinkServiceIpConfigurationCountInvalid",
  },
  privateLinkServicesPerLoadBalancer: {
    within: [[`${NETWORK}/privateLinkServices/a`, link(1)]],
    beyond: [`${NETWORK}/privateLinkServices/b`, link(1)],
    code: "PrivateLinkServiceCountLimitReachedForLoadBalancer",
  },
  tagsPerResource: {
    within: [[LB, { ...lbBody(), tags: { a: "1" } }]],
    beyond: [LB, { ...lbBody(), tags: { a: "1", b: "2" } }],
    code: "TooManyTags",
  },
};

/** A global load balancer whose pool holds the regional one, so many times. */
function globalLb(count: number): unknown {
  const members = Array.from({ length: count }, (_, index) => ({
    name: `region${index}`,
    properties: { loadBalancerFrontendIPConfiguration: { id: `${LB}/frontendIPConfigurations/front` } },
  }));
  const pools = [{ name: "pool", properties: { loadBalancerBackendAddresses: members } }];
  return { ...lbBody({ frontends: [frontend("front", "pip3")], pools }), sku: { name: "Standard", tier: "Global" } };
}

function azureAtLimit(name: keyof Limits, { parts = {}, within = [], at = 1 }: Limit): TestAzure {
  return build(azureWithLoadBalancer(parts, { limits: { [name]: at } }), ...within);
}

for (const [name, limit] of Object.entries(LIMITS) as [keyof Limits, Limit][]) {
  test(`the limit ${name} holds where it is set, and not where Azure has it`, () => {
    const azure = azureAtLimit(name, limit);
    const refused = azure.put(...limit.beyond);
    assert.deepEqual([refused.status, codeOf(refused)], [400, limit.code]);
    const roomy = build(azureWithLoadBalancer(limit.parts ?? {}), ...(limit.within ?? []));
    if (name.startsWith("shortest")) roomy.state.options = withOptions({ limits: { [name]: 20 } });
    const accepted = roomy.put(...limit.beyond);
    assert.ok(accepted.status < 300, JSON.stringify(accepted.body));
  });
}

test("setting some limits leaves the others at Azure's figures", () => {
  const { limits } = withOptions({ limits: { rulesPerNic: 7 } });
  assert.deepEqual(limits, { ...AZURE_LIMITS, rulesPerNic: 7 });
});

test("a regional load balancer stays while a global one leads to it", () => {
  const azure = build(azureWithLoadBalancer(), [OTHER_LB, globalLb(1)]);
  assert.equal(codeOf(azure.delete(LB)), "NotAllowedToDeleteLoadBalancerWithFrontendIpConfigurationInUseByGlobalLB");
});
