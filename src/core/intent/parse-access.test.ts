import assert from "node:assert/strict";
import { test } from "node:test";
import type { ServiceShape } from "../../../test/support/core-fixtures.ts";
import { accepted } from "../../../test/support/parsed-service.ts";
import type { AccessIntent } from "./service-intent.ts";

const INTERNAL = { "azure-load-balancer-internal": "true" };
const DESTINATIONS = (text: string) => ({ "azure-allowed-destination-ip-ranges": text });
const ranges = (...loadBalancerSourceRanges: string[]): Pick<ServiceShape, "spec"> => ({
  spec: { loadBalancerSourceRanges },
});

const cases: readonly (readonly [string, ServiceShape, Partial<AccessIntent>])[] = [
  ["an external Service is open to the Internet", {}, { allowFromInternet: true, denyOthers: false }],
  ["an internal one is not", { annotations: INTERNAL }, { allowFromInternet: false }],
  [
    "ranges close it to the rest",
    ranges("1.2.3.0/24"),
    { allowFromInternet: false, ranges: { IPv4: ["1.2.3.0/24"], IPv6: [] } },
  ],
  [
    "a range of all opens it",
    ranges("0.0.0.0/0"),
    { allowFromInternet: true, ranges: { IPv4: ["0.0.0.0/0"], IPv6: [] } },
  ],
  [
    "halves of all are all",
    ranges("0.0.0.0/1", "128.0.0.0/1"),
    { allowFromInternet: true, ranges: { IPv4: ["0.0.0.0/0"], IPv6: [] } },
  ],
  [
    "an internal Service may be opened by a range of all",
    { annotations: INTERNAL, ...ranges("0.0.0.0/0") },
    { allowFromInternet: true },
  ],
  [
    "ranges are aggregated by family",
    ranges("10.0.1.0/24", "10.0.0.0/24", "fd00::/17", "fd00:8000::/17"),
    { ranges: { IPv4: ["10.0.0.0/23"], IPv6: ["fd00::/16"] } },
  ],
  [
    "both annotations count",
    { annotations: { "azure-allowed-ip-ranges": "1.0.0.0/8 , 2.0.0.0/8", "load-balancer-source-ranges": "3.0.0.0/8" } },
    { ranges: { IPv4: ["1.0.0.0/8", "2.0.0.0/7"], IPv6: [] }, allowFromInternet: false },
  ],
  [
    "service tags close it to the Internet, in their order",
    { annotations: { "azure-allowed-service-tags": "Storage, AzureCloud,Storage," } },
    { serviceTags: ["Storage", "AzureCloud"], allowFromInternet: false },
  ],
  [
    "what is no range closes it to all other clients",
    ranges("1.2.3.0/24", "nonsense"),
    { allowFromInternet: false, denyOthers: true, ranges: { IPv4: ["1.2.3.0/24"], IPv6: [] } },
  ],
  [
    "also when it stands alone in an annotation",
    { annotations: { "azure-allowed-ip-ranges": "10.0.0.1" } },
    { allowFromInternet: false, denyOthers: true },
  ],
  [
    "others are denied with ranges",
    { annotations: { "azure-deny-all-except-load-balancer-source-ranges": "true" }, ...ranges("1.2.3.0/24") },
    { denyOthers: true },
  ],
  [
    "and not without",
    { annotations: { "azure-deny-all-except-load-balancer-source-ranges": "true" } },
    { denyOthers: false },
  ],
  [
    "rules may be left to people",
    { annotations: { "azure-disable-load-balancer-nsg-rule": "TRUE" } },
    { unmanaged: true },
  ],
  [
    "ranges of nodes are aggregated, of each family whose packets arrive at nodes",
    {
      annotations: { ...INTERNAL, ...DESTINATIONS("10.0.0.0/25,10.0.0.128/25, fd00::/64") },
      spec: { ipFamilies: ["IPv4", "IPv6"] },
    },
    { destinations: { IPv4: [], IPv6: ["fd00::/64"] } },
  ],
  [
    "and without a floating IP of both",
    {
      annotations: { "azure-disable-load-balancer-floating-ip": "true", ...DESTINATIONS("10.0.0.0/25,10.0.0.128/25") },
    },
    { destinations: { IPv4: ["10.0.0.0/24"], IPv6: [] } },
  ],
  ["rules are shared by default", { annotations: { "azure-shared-securityrule": "true" } }, { ownRules: false }],
  ["and its own on request", { annotations: { "azure-shared-securityrule": "False" } }, { ownRules: true }],
];
for (const [sentence, shape, expected] of cases) {
  test(sentence, () => {
    const { access } = accepted(shape).intent;
    assert.deepEqual({ ...access, ...expected }, access);
  });
}
