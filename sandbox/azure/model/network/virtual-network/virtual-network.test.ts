import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { build, codeOf, nicBody, nicId, SUBNET, VIRTUAL_NETWORK, VNET } from "../../test-fixtures.ts";
import { azureWithGroup } from "../../test-azure.ts";

const subnet = (name: string, addressPrefix: string) => ({ name, properties: { addressPrefix } });
const network = (...subnets: unknown[]) => ({
  location: "eastus",
  properties: { addressSpace: { addressPrefixes: ["10.0.0.0/16"] }, subnets },
});

describe("a virtual network is refused", () => {
  const cases: readonly (readonly [string, unknown, string])[] = [
    ["a prefix that is none", network(subnet("a", "10.0.4.0/24--no-wait")), "InvalidAddressPrefixFormat"],
    ["a prefix with host bits", network(subnet("a", "10.0.4.1/24")), "InvalidCIDRNotation"],
    [
      "subnets that overlap",
      network(subnet("a", "10.0.4.0/24"), subnet("b", "10.0.4.128/25")),
      "NetcfgSubnetRangesOverlap",
    ],
    ["a subnet outside its space", network(subnet("a", "10.1.0.0/24")), "NetcfgInvalidSubnet"],
    ["a subnet without a range", network({ name: "a" }), "SubnetMissingRequiredProperty"],
    [
      "too many subnets",
      network(...[1, 2, 3].map((item) => subnet(`s${item}`, `10.0.${item}.0/24`))),
      "SubnetCountLimitReached",
    ],
  ];
  for (const [what, body, code] of cases) {
    test(`for ${what}`, () => {
      assert.equal(codeOf(azureWithGroup({ limits: { subnetsPerVirtualNetwork: 2 } }).put(VNET, body)), code);
    });
  }

  test("for a name of one letter", () => {
    assert.equal(codeOf(azureWithGroup().put(VNET.replace(/vnet$/, "v"), network())), "InvalidResourceName");
  });
});

describe("a subnet", () => {
  test("has its defaults, and shares the network's ETag", () => {
    const azure = build(
      azureWithGroup(),
      [VNET, network()],
      [SUBNET, { properties: { addressPrefix: "10.0.0.0/24" } }],
    );
    const { body } = azure.get(SUBNET);
    assert.deepEqual(body.properties, {
      provisioningState: "Succeeded",
      addressPrefix: "10.0.0.0/24",
      delegations: [],
      privateEndpointNetworkPolicies: "Disabled",
      privateLinkServiceNetworkPolicies: "Enabled",
    });
    assert.equal(body.etag, azure.get(VNET).body.etag);
  });

  test("in use neither goes, alone or with its network, nor moves", () => {
    const azure = build(azureWithGroup(), [VNET, VIRTUAL_NETWORK], [nicId("nic"), nicBody()]);
    assert.deepEqual(azure.get(SUBNET).body.properties.ipConfigurations, [
      { id: `${nicId("nic")}/ipConfigurations/ipconfig` },
    ]);
    for (const refused of [azure.delete(SUBNET), azure.delete(VNET), azure.put(VNET, network())]) {
      assert.equal(codeOf(refused), "InUseSubnetCannotBeDeleted");
    }
    assert.equal(
      codeOf(azure.put(SUBNET, { properties: { addressPrefix: "10.0.9.0/24" } })),
      "InUsePrefixCannotBeDeleted",
    );
    azure.delete(nicId("nic"));
    assert.equal(azure.delete(SUBNET).status, 202);
  });

  test("tells whether an address is free, and which are", () => {
    const azure = build(azureWithGroup(), [VNET, VIRTUAL_NETWORK], [nicId("nic"), nicBody()]);
    const ask = (ipAddress: string) => azure.get(`${VNET}/CheckIPAddressAvailability`, { ipAddress }).body;
    assert.equal(ask("10.0.0.9").available, true);
    assert.deepEqual(ask("10.0.0.4"), {
      available: false,
      availableIPAddresses: ["10.0.0.5", "10.0.0.6", "10.0.0.7", "10.0.0.8", "10.0.0.9"],
      isPlatformReserved: false,
    });
  });
});
