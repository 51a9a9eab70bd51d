import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { build, codeOf, nicBody, nicId, NSG, SUBNET, VIRTUAL_NETWORK, VNET } from "../../test-fixtures.ts";
import { azureWithGroup, type Wire } from "../../test-azure.ts";

type Fields = Record<string, unknown>;

function rule(name: string, more: Fields = {}): Fields {
  const base = {
    priority: 100,
    direction: "Inbound",
    access: "Allow",
    protocol: "Tcp",
    sourceAddressPrefix: "*",
    sourcePortRange: "*",
    destinationAddressPrefix: "*",
    destinationPortRange: "80",
  };
  const properties: Fields = { ...base, ...more };
  for (const field in properties) if (properties[field] === undefined) delete properties[field];
  return { name, properties };
}

const group = (...securityRules: Fields[]) => ({ location: "eastus", properties: { securityRules } });
const sources = (...sourceAddressPrefixes: string[]) => ({ sourceAddressPrefix: undefined, sourceAddressPrefixes });

describe("a security group is refused", () => {
  const cases: readonly (readonly [string, Fields[], string])[] = [
    ["two rules of one priority and direction", [rule("a"), rule("b")], "SecurityRuleConflict"],
    ["a priority below 100", [rule("a", { priority: 99 })], "SecurityRuleInvalidPriority"],
    ["a priority above 4096", [rule("a", { priority: 4097 })], "SecurityRuleInvalidPriority"],
    [
      "an address with host bits",
      [rule("a", { sourceAddressPrefix: "10.0.0.1/24" })],
      "SecurityRuleInvalidAddressPrefix",
    ],
    ["a tag with a space", [rule("a", { sourceAddressPrefix: "Some Where" })], "SecurityRuleInvalidAddressPrefix"],
    ...["Storag", "internet2", "Storage.Nowhere", "Internet.WestUS2", "Storage.", ".WestUS2", "a.b"].map(
      (sourceAddressPrefix): readonly [string, Fields[], string] => [
        `the unknown service tag ${sourceAddressPrefix}`,
        [rule("a", { sourceAddressPrefix })],
        "SecurityRuleInvalidAddressPrefix",
      ],
    ),
    [
      "blocks that overlap",
      [rule("a", sources("10.0.0.0/8", "10.1.0.0/16"))],
      "OverlappingSubnetsNotPermittedInSecurityRule",
    ],
    [
      "a tag among addresses",
      [rule("a", sources("10.0.0.0/8", "Internet"))],
      "SecurityRuleParameterContainsUnsupportedValue",
    ],
    [
      "a star among addresses",
      [rule("a", sources("10.0.0.0/8", "*"))],
      "SecurityRuleParameterContainsUnsupportedValue",
    ],
    ["ports in one text", [rule("a", { destinationPortRange: "80,443" })], "SecurityRuleInvalidPortRange"],
    ["a port range upside down", [rule("a", { destinationPortRange: "90-80" })], "SecurityRuleInvalidPortRange"],
    [
      "an Allow for the platform's DNS",
      [rule("a", { destinationAddressPrefix: "AzurePlatformDNS" })],
      "SecurityRuleInvalidAccessType",
    ],
    ["an unknown protocol", [rule("a", { protocol: "Sctp" })], "SecurityRuleInvalidProperty"],
    ["a rule without a source", [rule("a", { sourceAddressPrefix: undefined })], "SecurityRuleParameterNotSpecified"],
    ["a bad name", [rule("-a")], "InvalidResourceName"],
    [
      "more rules than fit",
      [rule("a"), rule("b", { priority: 101 }), rule("c", { priority: 102 })],
      "SecurityRulesPerSecurityGroupLimitReached",
    ],
    [
      "more addresses over all rules than fit",
      [
        rule("a", sources("10.0.0.0/32", "10.0.0.1/32")),
        rule("b", { priority: 101, ...sources("10.0.0.2/32", "10.0.0.3/32") }),
      ],
      "SecurityRuleAddressesOrPortsPerSecurityGroupLimitReached",
    ],
  ];
  for (const [what, rules, code] of cases) {
    test(`for ${what}`, () => {
      const azure = azureWithGroup({ limits: { rulesPerSecurityGroup: 2, addressesOrPortsPerSecurityGroup: 3 } });
      assert.equal(codeOf(azure.put(NSG, group(...rules))), code);
      assert.equal(azure.get(NSG).status, 404);
    });
  }
});

describe("a security group", () => {
  test("has six rules of its own, and fills in empty lists", () => {
    const azure = build(azureWithGroup(), [NSG, group(rule("a"), rule("b", { direction: "Outbound" }))]);
    const { properties } = azure.get(NSG).body;
    assert.deepEqual(
      properties.defaultSecurityRules.map((item: Wire) => [item.name, item.properties.priority]),
      [
        ["AllowVnetInBound", 65000],
        ["AllowAzureLoadBalancerInBound", 65001],
        ["DenyAllInBound", 65500],
        ["AllowVnetOutBound", 65000],
        ["AllowInternetOutBound", 65001],
        ["DenyAllOutBound", 65500],
      ],
    );
    assert.deepEqual(properties.securityRules[0].properties.destinationPortRanges, []);
    assert.equal(azure.get(`${NSG}/defaultSecurityRules/DenyAllInBound`).status, 200);
    assert.equal(azure.put(`${NSG}/defaultSecurityRules/DenyAllInBound`, rule("x")).status, 405);
  });

  test("takes the service tags of Azure, of a region too, in any case", () => {
    const tags = [
      "Internet",
      "VIRTUALNETWORK",
      "AzureLoadBalancer",
      "Storage",
      "storage.westus2",
      "AzureCloud.WestEurope",
    ];
    for (const sourceAddressPrefix of [...tags, "AzureFrontDoor.Backend", "Sql", "AzureActiveDirectory"]) {
      const answer = azureWithGroup().put(NSG, group(rule("a", { sourceAddressPrefix })));
      assert.equal(answer.status, 201, sourceAddressPrefix);
    }
  });

  test("takes and loses one rule at a time", () => {
    const azure = build(azureWithGroup(), [NSG, group(rule("a"))]);
    assert.equal(azure.put(`${NSG}/securityRules/b`, rule("b", { priority: 101 })).status, 201);
    assert.equal(codeOf(azure.put(`${NSG}/securityRules/c`, rule("c"))), "SecurityRuleConflict");
    assert.equal(azure.delete(`${NSG}/securityRules/A`).status, 202);
    assert.deepEqual(
      azure.get(`${NSG}/securityRules`).body.value.map((item: Wire) => item.name),
      ["b"],
    );
  });

  test("knows its users, and stays while it has any", () => {
    const azure = build(azureWithGroup(), [NSG, group()], [VNET, VIRTUAL_NETWORK]);
    build(azure, [SUBNET, { properties: { addressPrefix: "10.0.0.0/24", networkSecurityGroup: { id: NSG } } }]);
    const body = nicBody() as { properties: Fields };
    build(azure, [nicId("nic"), { ...body, properties: { ...body.properties, networkSecurityGroup: { id: NSG } } }]);
    const { properties } = azure.get(NSG).body;
    assert.deepEqual([properties.subnets, properties.networkInterfaces], [[{ id: SUBNET }], [{ id: nicId("nic") }]]);
    assert.equal(codeOf(azure.delete(NSG)), "InUseNetworkSecurityGroupCannotBeDeleted");
  });
});
