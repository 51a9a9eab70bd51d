/** Whatever a body holds, the model answers: it throws nothing, and a refused body changes nothing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "../../../test/support/laws.ts";
import { snapshot } from "./index.ts";
import {
  frontend,
  internalFrontend,
  LB,
  lbBody,
  member,
  nicBody,
  nicId,
  NSG,
  pipId,
  POOL,
  PUBLIC_IP,
  rule,
  SCALE_SET,
  scaleSetBody,
  VIRTUAL_NETWORK,
  VNET,
  azureWithLoadBalancer,
} from "./test-fixtures.ts";
import { COMPUTE, GROUP, NETWORK, type Wire } from "./test-azure.ts";

const FRONT = { id: `${LB}/frontendIPConfigurations/front` };

const BODIES: readonly (readonly [path: string, body: unknown])[] = [
  [GROUP, { location: "eastus", tags: { a: "b" } }],
  [
    LB,
    lbBody({
      frontends: [
        frontend("front", "pip1"),
        internalFrontend("inner", { privateIPAllocationMethod: "Static", privateIPAddress: "10.0.0.9" }),
      ],
      pools: [
        {
          name: "pool",
          properties: {
            virtualNetwork: { id: VNET },
            loadBalancerBackendAddresses: [member("a", "10.0.0.1", { adminState: "Up" })],
          },
        },
      ],
      rules: [rule("a", { probe: { id: `${LB}/probes/p` }, disableOutboundSnat: true })],
      probes: [{ name: "p", properties: { protocol: "Http", port: 80, requestPath: "/" } }],
      natRules: [
        {
          name: "n",
          properties: { protocol: "Tcp", frontendPort: 22, backendPort: 22, frontendIPConfiguration: FRONT },
        },
      ],
      outboundRules: [
        {
          name: "o",
          properties: { protocol: "All", frontendIPConfigurations: [FRONT], backendAddressPool: { id: POOL } },
        },
      ],
    }),
  ],
  [POOL, { properties: { loadBalancerBackendAddresses: [member("a", "10.0.0.1"), member("b", "10.0.0.2")] } }],
  [
    pipId("pip2"),
    {
      ...PUBLIC_IP,
      zones: ["1"],
      properties: {
        dnsSettings: { domainNameLabel: "label", domainNameLabelScope: "NoReuse" },
        publicIPPrefix: { id: "x" },
      },
    },
  ],
  [
    `${NETWORK}/publicIPPrefixes/prefix`,
    { location: "eastus", sku: { name: "Standard" }, properties: { prefixLength: 30 } },
  ],
  [
    NSG,
    {
      location: "eastus",
      properties: {
        securityRules: [
          {
            name: "r",
            properties: {
              priority: 100,
              direction: "Inbound",
              access: "Allow",
              protocol: "Tcp",
              sourceAddressPrefixes: ["10.0.0.0/8", "11.0.0.0/8"],
              sourcePortRange: "*",
              destinationAddressPrefix: "*",
              destinationPortRanges: ["80", "81-82"],
            },
          },
        ],
      },
    },
  ],
  [VNET, VIRTUAL_NETWORK],
  [`${VNET}/subnets/more`, { properties: { addressPrefix: "10.0.5.0/24", networkSecurityGroup: { id: NSG } } }],
  [
    nicId("nic"),
    nicBody([POOL], {
      publicIPAddress: { id: pipId("pip2") },
      loadBalancerInboundNatRules: [{ id: `${LB}/inboundNatRules/n` }],
    }),
  ],
  [
    `${NETWORK}/privateLinkServices/pls`,
    {
      location: "eastus",
      properties: {
        loadBalancerFrontendIpConfigurations: [FRONT],
        ipConfigurations: [{ name: "i", properties: { subnet: { id: `${VNET}/subnets/links` } } }],
      },
    },
  ],
  [`${COMPUTE}/availabilitySets/set`, { location: "eastus", sku: { name: "Aligned" } }],
  [
    `${COMPUTE}/virtualMachines/vm`,
    {
      location: "eastus",
      properties: {
        osProfile: { computerName: "x" },
        storageProfile: { osDisk: {} },
        networkProfile: { networkInterfaces: [{ id: nicId("nic") }] },
      },
    },
  ],
  [SCALE_SET, scaleSetBody(1, [POOL])],
  [SCALE_SET, scaleSetBody(1, [], { orchestrationMode: "Flexible" })],
];

/** Every place in a body, as the steps that lead to it. */
function placesIn(value: Wire, here: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== "object" || value === null) return [here];
  const inner = Object.keys(value).flatMap((name) =>
    placesIn(value[name], [...here, Array.isArray(value) ? Number(name) : name]),
  );
  return [here, ...inner];
}

function withValueAt(body: unknown, place: readonly (string | number)[], value: unknown): unknown {
  if (place.length === 0) return value;
  const copy = structuredClone(body) as Wire;
  const [last, ...path] = place.toReversed();
  let at = copy;
  for (const step of path.toReversed()) at = at[step];
  at[last ?? ""] = value;
  return copy;
}

const oddValue = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(
    null,
    "",
    "x",
    0,
    -1,
    1.5,
    1e99,
    true,
    [],
    {},
    [null],
    [[]],
    [{}],
    { id: "/" },
    { id: 5 },
    { id: `${NETWORK}/a` },
    "__proto__",
  ),
);

const oddRequest = fc.constantFrom(...BODIES).chain(([path, body]) =>
  fc.tuple(
    fc.constant(path),
    fc.constantFrom(...placesIn(body)).chain((place) => oddValue.map((value) => withValueAt(body, place, value))),
  ),
);

test("no body makes the model throw, and a refused one changes nothing", () => {
  fc.assert(
    fc.property(fc.array(oddRequest, { minLength: 1, maxLength: 4 }), (requests) => {
      const azure = azureWithLoadBalancer();
      for (const [path, body] of requests) {
        azure.get(GROUP);
        const before = JSON.stringify(snapshot(azure.state));
        const answer = azure.put(path, body);
        if (answer.status >= 400) assert.equal(JSON.stringify(snapshot(azure.state)), before);
        assert.ok(answer.status < 300 || typeof answer.body.error.code === "string");
        JSON.stringify(azure.get(path).body);
      }
    }),
    { numRuns: 400 },
  );
});

test("no path and no query makes the model throw", () => {
  const segment = fc.oneof(
    fc.constantFrom(
      "subscriptions",
      "s",
      "resourceGroups",
      "rg",
      "providers",
      "Microsoft.Network",
      "loadBalancers",
      "lb",
      "backendAddressPools",
      "..",
      "",
    ),
    fc.string({ maxLength: 6 }),
  );
  const azure = azureWithLoadBalancer();
  fc.assert(
    fc.property(
      fc.array(segment, { maxLength: 12 }),
      fc.constantFrom("GET", "PUT", "DELETE", "PATCH", "POST", "HEAD"),
      fc.dictionary(fc.constantFrom("$skiptoken", "$filter", "$expand"), fc.string()),
      (segments, method, query) => {
        const path = `/${segments.join("/")}`;
        const answer = azure.send(method, path, {}, { query: { "api-version": "2025-05-01", ...query } });
        assert.ok(answer.status >= 200 && answer.status < 500);
      },
    ),
    { numRuns: 500 },
  );
});
