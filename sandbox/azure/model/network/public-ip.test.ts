import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { build, codeOf, frontend, LB, lbBody, pipId, PUBLIC_IP, azureWithLoadBalancer } from "../test-fixtures.ts";
import { NETWORK, azureWithGroup } from "../test-azure.ts";

const labelled = (domainNameLabel: string, more = {}) => ({
  ...PUBLIC_IP,
  properties: { dnsSettings: { domainNameLabel, ...more } },
});

describe("a public address", () => {
  test("names what uses it, and cannot be deleted while it is used", () => {
    const azure = azureWithLoadBalancer();
    const holder = `${LB}/frontendIPConfigurations/front`;
    assert.deepEqual(azure.get(pipId("pip1")).body.properties.ipConfiguration, { id: holder });
    const refused = azure.delete(pipId("pip1"));
    assert.equal(codeOf(refused), "PublicIPAddressCannotBeDeleted");
    assert.ok(refused.body.error.message.includes(holder));
    build(azure, [LB, lbBody({ frontends: [frontend("front", "pip2")] })]);
    assert.equal(azure.get(pipId("pip1")).body.properties.ipConfiguration, undefined);
    assert.equal(azure.delete(pipId("pip1")).status, 202);
  });

  test("is Basic and Dynamic without a sku, and then has an address only in use", () => {
    const azure = azureWithLoadBalancer();
    build(azure, [pipId("plain"), { location: "eastus" }]);
    const { sku, properties } = azure.get(pipId("plain")).body;
    assert.deepEqual([sku, properties.publicIPAllocationMethod], [{ name: "Basic", tier: "Regional" }, "Dynamic"]);
    assert.deepEqual([properties.ipAddress, properties.ddosSettings], [undefined, undefined]);
    build(azure, [
      `${NETWORK}/loadBalancers/basic`,
      lbBody({ sku: "Basic", pools: [], frontends: [frontend("front", "plain")] }),
    ]);
    assert.match(azure.get(pipId("plain")).body.properties.ipAddress, /^203\.0\.113\./);
  });

  test("keeps its address whatever is written to it", () => {
    const azure = azureWithLoadBalancer();
    const { ipAddress } = azure.get(pipId("pip1")).body.properties;
    build(azure, [
      pipId("pip1"),
      { ...PUBLIC_IP, properties: { ...PUBLIC_IP.properties, ipAddress: "1.2.3.4", idleTimeoutInMinutes: 9 } },
    ]);
    assert.equal(azure.get(pipId("pip1")).body.properties.ipAddress, ipAddress);
  });

  const refusals: readonly (readonly [string, unknown, string])[] = [
    [
      "Standard with dynamic allocation",
      { ...PUBLIC_IP, properties: { publicIPAllocationMethod: "Dynamic" } },
      "StandardSkuPublicIPAddressesCannotHaveDynamicAllocation",
    ],
    ["zones that it had not", { ...PUBLIC_IP, zones: ["1"] }, "ResourceAvailabilityZonesCannotBeModified"],
    ["a label that is none", labelled("9lives"), "InvalidDomainNameLabel"],
    ["a label that is taken", labelled("taken"), "DnsRecordInUse"],
    [
      "a prefix that is not there",
      { ...PUBLIC_IP, properties: { publicIPPrefix: { id: `${NETWORK}/publicIPPrefixes/no` } } },
      "InvalidResourceReference",
    ],
  ];
  for (const [what, body, code] of refusals) {
    test(`is refused ${what}`, () => {
      const azure = build(azureWithLoadBalancer(), [pipId("other"), labelled("taken")]);
      assert.equal(codeOf(azure.put(pipId("pip1"), body)), code);
    });
  }

  test("in use cannot become dynamic", () => {
    const azure = azureWithLoadBalancer({ sku: "Basic" });
    const body = { location: "eastus", properties: { publicIPAllocationMethod: "Dynamic" } };
    assert.equal(codeOf(azure.put(pipId("pip1"), body)), "PublicIPAddressInUseCannotUpdateToDynamic");
  });

  test("zones stay", () => {
    const azure = build(azureWithGroup(), [pipId("zonal"), { ...PUBLIC_IP, zones: ["1", "2"] }]);
    assert.equal(codeOf(azure.put(pipId("zonal"), PUBLIC_IP)), "ResourceAvailabilityZonesCannotBeModified");
  });

  test("has a name in the region, hashed where its scope says so", () => {
    const azure = build(
      azureWithGroup(),
      [pipId("a"), labelled("woot")],
      [pipId("b"), labelled("woot", { domainNameLabelScope: "TenantReuse" })],
    );
    const fqdn = (name: string) => azure.get(pipId(name)).body.properties.dnsSettings.fqdn;
    assert.equal(fqdn("a"), "woot.eastus.cloudapp.azure.com");
    assert.match(fqdn("b"), /^woot\.[0-9a-f]{16}\.eastus\.cloudapp\.azure\.com$/);
  });

  for (const [limit, code] of [
    ["publicIps", "PublicIPCountLimitReached"],
    ["staticPublicIps", "StaticPublicIPCountLimitReached"],
    ["standardPublicIps", "StandardSkuPublicIPCountLimitReached"],
  ] as const) {
    test(`is counted: ${limit}`, () => {
      const azure = build(azureWithGroup({ limits: { [limit]: 1 } }), [pipId("one"), PUBLIC_IP]);
      assert.equal(codeOf(azure.put(pipId("two"), PUBLIC_IP)), code);
      assert.equal(
        azure.put(pipId("one"), { ...PUBLIC_IP, tags: { a: "b" } }).status,
        200,
        "what is there may be written",
      );
    });
  }
});

describe("a public prefix", () => {
  const PREFIX = `${NETWORK}/publicIPPrefixes/prefix`;
  const body = { location: "eastus", sku: { name: "Standard" }, properties: { prefixLength: 31 } };
  const drawn = { ...PUBLIC_IP, properties: { publicIPAllocationMethod: "Static", publicIPPrefix: { id: PREFIX } } };

  test("gives its addresses one by one, names their holders, and runs out", () => {
    const azure = build(azureWithGroup(), [PREFIX, body], [pipId("a"), drawn], [pipId("b"), drawn]);
    const prefix = azure.get(PREFIX).body.properties;
    const base = prefix.ipPrefix.replace(/0\/31$/, "");
    assert.deepEqual(
      ["a", "b"].map((name) => azure.get(pipId(name)).body.properties.ipAddress),
      [`${base}0`, `${base}1`],
    );
    assert.deepEqual(prefix.publicIPAddresses, [{ id: pipId("a") }, { id: pipId("b") }]);
    assert.equal(codeOf(azure.put(pipId("c"), drawn)), "PublicIpPrefixOutOfIpAddresses");
    assert.equal(azure.delete(PREFIX).status, 400);
  });

  test("has a length within limits, for good", () => {
    const azure = build(azureWithGroup(), [PREFIX, body]);
    assert.equal(
      codeOf(azure.put(`${PREFIX}2`, { ...body, properties: { prefixLength: 27 } })),
      "PublicIpPrefixLengthNotAllowed",
    );
    assert.equal(
      codeOf(azure.put(PREFIX, { ...body, properties: { prefixLength: 30 } })),
      "PublicIpPrefixLengthCannotBeChanged",
    );
  });
});
