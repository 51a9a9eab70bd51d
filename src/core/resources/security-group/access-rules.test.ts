import assert from "node:assert/strict";
import { test } from "node:test";
import { aPort, type ServiceShape } from "../../../../test/support/core-fixtures.ts";
import { accepted } from "../../../../test/support/parsed-service.ts";
import type { AccessRule, ServiceAddresses } from "./fragment.ts";
import { desiredAccessRules, narrowWhere } from "./access-rules.ts";

const V4: ServiceAddresses["current"] = { IPv4: ["20.0.0.1"], IPv6: [] };
const BOTH: ServiceAddresses["current"] = { IPv4: ["20.0.0.1"], IPv6: ["2603::1"] };
const NODES: ServiceAddresses["nodes"] = { IPv4: ["10.240.0.4", "10.240.0.5"], IPv6: ["fd00::4"] };

/** One line a rule. */
const render = ({ access, protocol, family, sources, ports, destinations, own }: AccessRule): string =>
  `${own === true ? "own " : ""}${access} ${protocol} ${family} ${sources.join()} → ${destinations.join()} ${ports.join() || "*"}`;

const INTERNAL = { "azure-load-balancer-internal": "true" };
const NO_FLOATING = { "azure-disable-load-balancer-floating-ip": "true" };
const DENY = { "azure-deny-all-except-load-balancer-source-ranges": "true" };
const SHARED = "20.0.0.7";
const DUAL = { ipFamilies: ["IPv4", "IPv6"] } as const;
const WEB = [aPort(80), aPort(443)];

const cases: readonly (readonly [string, ServiceShape, ServiceAddresses["current"], readonly string[]])[] = [
  ["a plain Service is open to the Internet", {}, V4, ["Allow Tcp IPv4 Internet → 20.0.0.1 80"]],
  [
    "all ports of a protocol are in one rule",
    { spec: { ports: WEB } },
    V4,
    ["Allow Tcp IPv4 Internet → 20.0.0.1 80,443"],
  ],
  [
    "protocols come in their order, families within, whatever that of the ports",
    { spec: { ...DUAL, ports: [aPort(53, { protocol: "UDP" }), aPort(80)] } },
    BOTH,
    [
      "Allow Tcp IPv4 Internet → 20.0.0.1 80",
      "Allow Tcp IPv6 Internet → 2603::1 80",
      "Allow Udp IPv4 Internet → 20.0.0.1 53",
      "Allow Udp IPv6 Internet → 2603::1 53",
    ],
  ],
  ["a plain internal Service needs no rule", { annotations: INTERNAL }, V4, []],
  [
    "SCTP is any protocol",
    {
      annotations: INTERNAL,
      spec: { ports: [aPort(80, { protocol: "SCTP" })], loadBalancerSourceRanges: ["10.0.0.0/8"] },
    },
    V4,
    ["Allow * IPv4 10.0.0.0/8 → 20.0.0.1 80"],
  ],
  [
    "each service tag has a rule, ranges have one",
    {
      annotations: { "azure-allowed-service-tags": "Storage,AzureCloud" },
      spec: { loadBalancerSourceRanges: ["2.0.0.0/8", "1.0.0.0/8"] },
    },
    V4,
    [
      "Allow Tcp IPv4 Storage → 20.0.0.1 80",
      "Allow Tcp IPv4 AzureCloud → 20.0.0.1 80",
      "Allow Tcp IPv4 1.0.0.0/8,2.0.0.0/8 → 20.0.0.1 80",
    ],
  ],
  [
    "a range of all stands for the Internet",
    { spec: { ...DUAL, loadBalancerSourceRanges: ["0.0.0.0/0"] } },
    BOTH,
    ["Allow Tcp IPv4 0.0.0.0/0 → 20.0.0.1 80"],
  ],
  [
    "ranges open addresses of their own family",
    { spec: { ...DUAL, loadBalancerSourceRanges: ["1.0.0.0/8", "fd00::/8"] } },
    BOTH,
    ["Allow Tcp IPv4 1.0.0.0/8 → 20.0.0.1 80", "Allow Tcp IPv6 fd00::/8 → 2603::1 80"],
  ],
  [
    "others are denied last, for every family",
    {
      annotations: { "azure-deny-all-except-load-balancer-source-ranges": "true" },
      spec: { ...DUAL, loadBalancerSourceRanges: ["1.0.0.0/8"] },
    },
    BOTH,
    ["Allow Tcp IPv4 1.0.0.0/8 → 20.0.0.1 80", "Deny * IPv4 * → 20.0.0.1 *", "Deny * IPv6 * → 2603::1 *"],
  ],
  ["ranges that are none deny all", { spec: { loadBalancerSourceRanges: ["x"] } }, V4, ["Deny * IPv4 * → 20.0.0.1 *"]],
  ["rules left to people are none", { annotations: { "azure-disable-load-balancer-nsg-rule": "true" } }, V4, []],
  [
    "additional addresses are opened too, by family",
    { annotations: { "azure-additional-public-ips": "20.9.9.9,2603::9" } },
    V4,
    [
      "Allow Tcp IPv4 Internet → 20.0.0.1 80",
      "own Allow Tcp IPv4 Internet → 20.9.9.9 80",
      "own Allow Tcp IPv6 Internet → 2603::9 80",
    ],
  ],
  [
    "on an address that it shares, a Service denies its own ports of each protocol",
    {
      annotations: DENY,
      spec: { ports: [...WEB, aPort(53, { protocol: "UDP" })], loadBalancerSourceRanges: ["1.0.0.0/8"] },
    },
    { IPv4: [SHARED], IPv6: [] },
    [
      "Allow Tcp IPv4 1.0.0.0/8 → 20.0.0.7 80,443",
      "Allow Udp IPv4 1.0.0.0/8 → 20.0.0.7 53",
      "own Deny Tcp IPv4 * → 20.0.0.7 80,443",
      "own Deny Udp IPv4 * → 20.0.0.7 53",
    ],
  ],
  [
    "on nodes a Service denies its own node ports",
    { annotations: { ...NO_FLOATING, ...DENY }, spec: { loadBalancerSourceRanges: ["1.0.0.0/8"] } },
    V4,
    ["own Allow Tcp IPv4 1.0.0.0/8 → 10.240.0.4,10.240.0.5 30080", "own Deny Tcp IPv4 * → 10.240.0.4,10.240.0.5 30080"],
  ],
  [
    "a port without a load balancing rule is opened all the same",
    { annotations: { port_443_no_lb_rule: "true" }, spec: { ports: WEB } },
    V4,
    ["Allow Tcp IPv4 Internet → 20.0.0.1 80,443"],
  ],
  [
    "without a floating IP the nodes are opened at their node ports",
    { annotations: NO_FLOATING, spec: { ports: WEB } },
    V4,
    ["own Allow Tcp IPv4 Internet → 10.240.0.4,10.240.0.5 30080,30443"],
  ],
  [
    "named ranges stand for the nodes of their family, in denials too",
    {
      annotations: {
        ...NO_FLOATING,
        ...DENY,
        "azure-allowed-destination-ip-ranges": "10.240.0.0/16",
      },
      spec: { ...DUAL, loadBalancerSourceRanges: ["1.0.0.0/8", "fd00::/8"] },
    },
    BOTH,
    [
      "own Allow Tcp IPv4 1.0.0.0/8 → 10.240.0.0/16 30080",
      "own Allow Tcp IPv6 fd00::/8 → fd00::4 30080",
      "own Deny Tcp IPv4 * → 10.240.0.0/16 30080",
      "own Deny Tcp IPv6 * → fd00::4 30080",
    ],
  ],
  [
    "internal IPv6 never has a floating IP",
    { annotations: INTERNAL, spec: { ...DUAL, loadBalancerSourceRanges: ["1.0.0.0/8", "fd00::/8"] } },
    { IPv4: ["10.0.0.9"], IPv6: ["fd00::9"] },
    ["Allow Tcp IPv4 1.0.0.0/8 → 10.0.0.9 80", "own Allow Tcp IPv6 fd00::/8 → fd00::4 30080"],
  ],
  [
    "the rule for all ports translates none",
    {
      annotations: { ...INTERNAL, ...NO_FLOATING, "azure-load-balancer-enable-high-availability-ports": "true" },
      spec: { ...DUAL, loadBalancerSourceRanges: ["1.0.0.0/8", "fd00::/8"] },
    },
    { IPv4: ["10.0.0.9"], IPv6: ["fd00::9"] },
    ["Allow Tcp IPv4 1.0.0.0/8 → 10.0.0.9 80", "own Allow Tcp IPv6 fd00::/8 → fd00::4 80"],
  ],
  ["without an address nothing is opened", { annotations: NO_FLOATING }, { IPv4: [], IPv6: [] }, []],
];
/** One address is another Service's, too. */
const isNarrow = narrowWhere((address) => address === SHARED);

for (const [sentence, shape, current, expected] of cases) {
  test(sentence, () =>
    assert.deepEqual(
      desiredAccessRules(accepted(shape).intent, { current, nodes: NODES, isNarrow }).map(render),
      expected,
    ),
  );
}
