import assert from "node:assert/strict";
import { test } from "node:test";
import type { ServiceShape } from "../../../test/support/core-fixtures.ts";
import { accepted, refused } from "../../../test/support/parsed-service.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";

const NIC = { poolType: "nodeIPConfiguration" } as const;
const LINK = { "azure-load-balancer-internal": "true", "azure-pls-create": "true" };
const ONE = "11111111-1111-4111-8111-111111111111";
const TWO = "22222222-2222-4222-8222-222222222222";

function linkOf(annotations: Record<string, string>, config: Partial<ClusterConfig> = NIC) {
  return accepted({ annotations: { ...LINK, ...annotations } }, config).intent.privateLink;
}

test("without details it is named later, has one address in the Service's subnet, and serves no subscription", () => {
  assert.deepEqual(linkOf({}), {
    name: undefined,
    resourceGroup: "rg",
    subnet: "subnet",
    addressCount: 1,
    addresses: [],
    fqdns: [],
    proxyProtocol: false,
    visibility: [],
    autoApproval: [],
    details: [],
  });
  assert.equal(linkOf({ "azure-load-balancer-internal-subnet": "apps" })?.subnet, "apps");
  assert.equal(linkOf({}, { ...NIC, privateLinkServiceResourceGroup: "links" })?.resourceGroup, "links");
});

test("every key is read, trimmed, and its lists are divided by blanks", () => {
  const prefix = "service.beta.kubernetes.io/azure-pls-";
  assert.deepEqual(
    linkOf({
      "azure-pls-create": " True",
      "azure-pls-name": " mine ",
      "azure-pls-resource-group": "rg2",
      "azure-pls-ip-configuration-subnet": "links",
      "azure-pls-ip-configuration-ip-address-count": "3",
      "azure-pls-ip-configuration-ip-address": " 10.0.0.5  10.0.0.6 ",
      "azure-pls-fqdns": "a.example.com *.b.example.com",
      "azure-pls-proxy-protocol": "TRUE ",
      "azure-pls-visibility": `${ONE} ${TWO} ${ONE}`,
      "azure-pls-auto-approval": ONE,
    }),
    {
      name: "mine",
      resourceGroup: "rg2",
      subnet: "links",
      addressCount: 3,
      addresses: ["10.0.0.5", "10.0.0.6"],
      fqdns: ["a.example.com", "*.b.example.com"],
      proxyProtocol: true,
      visibility: [ONE, TWO],
      autoApproval: [ONE],
      details: [
        "name",
        "ip-configuration-subnet",
        "ip-configuration-ip-address-count",
        "ip-configuration-ip-address",
        "fqdns",
        "proxy-protocol",
        "visibility",
        "auto-approval",
      ].map((key) => prefix + key),
    },
  );
});

test("a star stands for all subscriptions, and blank values for none", () => {
  assert.deepEqual(linkOf({ "azure-pls-visibility": `${ONE} *` })?.visibility, ["*"]);
  assert.deepEqual(linkOf({ "azure-pls-auto-approval": "*" })?.autoApproval, ["*"]);
  const blank = linkOf({
    "azure-pls-name": " ",
    "azure-pls-fqdns": "",
    "azure-pls-ip-configuration-ip-address-count": "",
  });
  assert.deepEqual([blank?.name, blank?.fqdns, blank?.addressCount], [undefined, [], 1]);
});

test("without azure-pls-create none is asked for, whatever else is said", () => {
  for (const create of ["false", "", "yes"]) {
    assert.equal(linkOf({ "azure-pls-create": create, "azure-pls-ip-configuration-ip-address-count": "9" }), undefined);
  }
});

test("an external Service has one without floating IP", () => {
  const annotations = { "azure-pls-create": "true", "azure-disable-load-balancer-floating-ip": "true" };
  assert.equal(accepted({ annotations }, NIC).intent.privateLink?.subnet, "subnet");
});

test("behind the proxy protocol, a Local Service is probed at its ports", () => {
  const spec = { externalTrafficPolicy: "Local", healthCheckNodePort: 32_001 } as const;
  const probeOf = (annotations: Record<string, string>) =>
    accepted({ annotations: { ...LINK, ...annotations }, spec }, NIC).intent.ports[0]?.probe.kind;
  assert.equal(probeOf({}), "local");
  assert.equal(probeOf({ "azure-pls-proxy-protocol": " true" }), "own");
  assert.equal(probeOf({ "azure-pls-proxy-protocol": "true", "azure-pls-create": "false" }), "local");
});

const refusals: readonly (readonly [string, ServiceShape, Partial<ClusterConfig>, RegExp])[] = [
  [
    "an external Service",
    { annotations: { "azure-pls-create": "true" } },
    NIC,
    /public frontend.*internal: "true" or .*floating-ip: "true"/,
  ],
  [
    "pools of addresses",
    { annotations: LINK },
    { poolType: "nodeIP" },
    /pools of IP addresses: set loadBalancerBackendPoolConfigurationType/,
  ],
  ["Basic", { annotations: LINK }, { ...NIC, sku: "basic" }, /Basic load balancers: use Standard/],
  [
    "IPv6 alone",
    { annotations: LINK, spec: { ipFamilies: ["IPv6"] } },
    NIC,
    /needs an IPv4 frontend: add IPv4 to spec\.ipFamilies/,
  ],
  ...(
    [
      ["name", "a/b", /azure-pls-name: "a\/b" is no name of an Azure resource/],
      ["resource-group", "../x", /azure-pls-resource-group: "\.\.\/x" is no name of a resource group/],
      ["ip-configuration-subnet", "a b", /azure-pls-ip-configuration-subnet: "a b" is no name of a subnet/],
      ["ip-configuration-ip-address-count", "9", /address-count: "9" is not a whole number from 1 to 8/],
      ["ip-configuration-ip-address-count", "0", /address-count: "0" is not a whole number from 1 to 8/],
      ["ip-configuration-ip-address-count", "two", /address-count: "two" is not a whole number from 1 to 8/],
      ["ip-configuration-ip-address", "10.0.0.5 x", /ip-address: "10\.0\.0\.5 x" has what is no IPv4 address: "x"/],
      ["ip-configuration-ip-address", "fd00::1", /has what is no IPv4 address: "fd00::1"/],
      [
        "ip-configuration-ip-address",
        "10.0.0.5 10.0.0.6",
        /are 2 addresses, more than .*count \(1\) allows: set that to "2"/,
      ],
      ["fqdns", "a_b..c", /azure-pls-fqdns: "a_b\.\.c" has what is no domain name: "a_b\.\.c"/],
      [
        "visibility",
        "mine",
        /azure-pls-visibility: "mine" has what is neither the id of a subscription nor \*: "mine"/,
      ],
      [
        "auto-approval",
        `${ONE},${TWO}`,
        /azure-pls-auto-approval: .* has what is neither the id of a subscription nor \*/,
      ],
    ] as const
  ).map(([key, value, message]) => {
    const annotations = { ...LINK, [`azure-pls-${key}`]: value };
    return [`${key}: ${value}`, { annotations }, NIC, message] as const;
  }),
];
for (const [what, shape, config, message] of refusals) {
  test(`${what} is refused by key, value and fix`, () => assert.match(refused(shape, config).message, message));
}
