import assert from "node:assert/strict";
import { test } from "node:test";
import { aService, CONFIG, type ServiceShape } from "../../../test/support/core-fixtures.ts";
import { accepted } from "../../../test/support/parsed-service.ts";
import { parseService } from "./parse-service.ts";
import type { ServiceIntent } from "./service-intent.ts";

const INTERNAL = { "azure-load-balancer-internal": "true" };
const BASIC = { sku: "basic" } as const;
const DUAL = { ipFamilies: ["IPv4", "IPv6"] } as const;
const V6 = { ipFamilies: ["IPv6"] } as const;
const OWN_PROBE = { protocol: "Tcp", port: 30_080, intervalSeconds: 5, threshold: 2 } as const;

test("a plain Service asks for this", () => {
  const { intent, warnings } = accepted({});
  assert.deepEqual(intent, {
    owner: {
      key: "default/web",
      uid: "77656200-0000-0000-0000-000000000000",
      base: "a7765620000000000000000000000000",
    },
    scope: "external",
    families: ["IPv4"],
    subnet: undefined,
    pinned: {},
    publicIPs: { IPv4: { kind: "generated" } },
    publicIPResourceGroup: "rg",
    dnsLabel: undefined,
    publicIPTags: {},
    ipTags: undefined,
    additionalPublicIPs: [],
    ports: [{ protocol: "TCP", port: 80, nodePort: 30_080, rule: true, probe: { kind: "own", probe: OWN_PROBE } }],
    highAvailabilityPorts: false,
    floatingIP: true,
    tcpReset: true,
    idleTimeoutMinutes: 4,
    distribution: "Default",
    frontendOptions: {},
    privateLink: undefined,
    vmSets: { kind: "primary" },
    loadBalancers: undefined,
    hasOwnPool: false,
    access: {
      ranges: { IPv4: [], IPv6: [] },
      serviceTags: [],
      allowFromInternet: true,
      denyOthers: false,
      unmanaged: false,
      ownRules: false,
      destinations: { IPv4: [], IPv6: [] },
    },
    driftPolicy: undefined,
  } satisfies ServiceIntent);
  assert.deepEqual(warnings, []);
});

test("the same objects are parsed once", () => {
  const service = aService();
  assert.equal(parseService(service, CONFIG), parseService(service, CONFIG));
});

/** Sentence, Service, what the intent has then; there is nothing to warn of. */
const accepts: readonly (readonly [string, ServiceShape, Partial<ServiceIntent>])[] = [
  [
    "internal in any case is internal",
    { annotations: { "azure-load-balancer-internal": "True" } },
    { scope: "internal" },
  ],
  [
    "an internal Service may name its subnet, blanks aside",
    { annotations: { ...INTERNAL, "azure-load-balancer-internal-subnet": " apps " } },
    { subnet: "apps", publicIPs: {} },
  ],
  [
    "a blank subnet is none",
    { annotations: { ...INTERNAL, "azure-load-balancer-internal-subnet": " " } },
    { subnet: undefined },
  ],
  ["empty families are IPv4", { spec: { ipFamilies: [] } }, { families: ["IPv4"] }],
  [
    "an annotation pins the address before the spec does",
    { annotations: { "azure-load-balancer-ipv4": "20.0.0.1" }, spec: { loadBalancerIP: "20.0.0.2" } },
    { pinned: { IPv4: "20.0.0.1" }, publicIPs: { IPv4: { kind: "pinned", address: "20.0.0.1" } } },
  ],
  [
    "the spec pins the family of its address",
    { spec: { ...DUAL, loadBalancerIP: "2603:1020:0::1" } },
    {
      pinned: { IPv6: "2603:1020::1" },
      publicIPs: { IPv4: { kind: "generated" }, IPv6: { kind: "pinned", address: "2603:1020::1" } },
    },
  ],
  [
    "an internal Service may pin a private address",
    { annotations: { ...INTERNAL, "azure-load-balancer-ipv4": "10.0.0.9" } },
    { pinned: { IPv4: "10.0.0.9" }, publicIPs: {} },
  ],
  [
    "dual stack names each public IP by its own key",
    { annotations: { "azure-pip-name": "four", "azure-pip-name-ipv6": "six" }, spec: DUAL },
    { publicIPs: { IPv4: { kind: "named", name: "four" }, IPv6: { kind: "named", name: "six" } } },
  ],
  [
    "dual stack without the second key gets one of its own",
    { annotations: { "azure-pip-name": "four" }, spec: DUAL },
    { publicIPs: { IPv4: { kind: "named", name: "four" }, IPv6: { kind: "generated" } } },
  ],
  [
    "IPv6 alone takes the plain key too",
    { annotations: { "azure-pip-name": "four" }, spec: V6 },
    { publicIPs: { IPv6: { kind: "named", name: "four" } } },
  ],
  [
    "but its own key goes first",
    { annotations: { "azure-pip-name": "four", "azure-pip-name-ipv6": "six" }, spec: V6 },
    { publicIPs: { IPv6: { kind: "named", name: "six" } } },
  ],
  [
    "tags of the config are laid under those of the annotation",
    { annotations: { "azure-pip-tags": "Env=prod, team=a" } },
    { publicIPTags: { Env: "prod", team: "a" } },
  ],
  [
    "IP tags are asked for by being there",
    { annotations: { "azure-pip-ip-tags": "RoutingPreference=Internet" } },
    { ipTags: [{ type: "RoutingPreference", value: "Internet" }] },
  ],
  ["and empty ones are asked for too", { annotations: { "azure-pip-ip-tags": "" } }, { ipTags: [] }],
  ["an empty DNS label removes it", { annotations: { "azure-dns-label-name": "" } }, { dnsLabel: "" }],
  [
    "an empty DNS label removes that of both families",
    { annotations: { "azure-dns-label-name": "" }, spec: { ipFamilies: ["IPv4", "IPv6"] } },
    { dnsLabel: "" },
  ],
  ["a DNS label is set", { annotations: { "azure-dns-label-name": "my-app" } }, { dnsLabel: "my-app" }],
  [
    "the resource group of public IPs may be another one",
    { annotations: { "azure-load-balancer-resource-group": " other " } },
    { publicIPResourceGroup: "other" },
  ],
  [
    "additional addresses may have blanks around them",
    { annotations: { "azure-additional-public-ips": "20.0.0.1, 2603:0::1,20.0.0.1" } },
    { additionalPublicIPs: ["20.0.0.1", "2603::1"] },
  ],
  [
    "the idle timeout goes up to 100",
    { annotations: { "azure-load-balancer-tcp-idle-timeout": " 100 " } },
    { idleTimeoutMinutes: 100 },
  ],
  [
    "TCP reset can be turned off",
    { annotations: { "azure-load-balancer-disable-tcp-reset": "TRUE" } },
    { tcpReset: false },
  ],
  [
    "so can the floating IP",
    { annotations: { "azure-disable-load-balancer-floating-ip": "true" } },
    { floatingIP: false },
  ],
  ["session affinity spreads by source", { spec: { sessionAffinity: "ClientIP" } }, { distribution: "SourceIP" }],
  [
    "an internal Service may have all ports in one rule",
    { annotations: { ...INTERNAL, "azure-load-balancer-enable-high-availability-ports": "true" } },
    { highAvailabilityPorts: true },
  ],
  ["drift may be enforced", { annotations: { "azlb.io/drift-policy": "Enforce" } }, { driftPolicy: "enforce" }],
];
for (const [sentence, shape, expected] of accepts) {
  test(sentence, () => {
    const { intent, warnings } = accepted(shape, { tags: { env: "test" } });
    assert.deepEqual({ ...intent, ...expected }, intent);
    assert.deepEqual(warnings, []);
  });
}

test("a public IP may come from a prefix", () => {
  const prefixId = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/publicIPPrefixes/p";
  const { intent } = accepted({ annotations: { "azure-pip-prefix-id": prefixId } });
  assert.deepEqual(intent.publicIPs, { IPv4: { kind: "generated", prefixId } });
});

const modes: readonly (readonly [string, ServiceIntent["vmSets"]])[] = [
  ["__AUTO__", { kind: "auto" }],
  ["as1, as2", { kind: "named", names: ["as1", "as2"] }],
  [" ", { kind: "primary" }],
];
for (const [mode, vmSets] of modes) {
  test(`mode "${mode}" on Basic is ${vmSets.kind}`, () => {
    assert.deepEqual(accepted({ annotations: { "azure-load-balancer-mode": mode } }, BASIC).intent.vmSets, vmSets);
  });
}
