/**
 * Services that no user would write on purpose, as far as an API server lets them pass: known and misspelt
 * annotations with values of any kind and size, hundreds of ports, finalizers of others, odd marks.
 */
import * as fc from "fast-check";

import type { ServicePort } from "../../src/core/model/kubernetes.ts";
import { APPLIED_ANNOTATION } from "../../src/core/service/applied-state.ts";
import { GROUPS } from "../../src/core/intent/annotations/groups.ts";

/** The ports that annotations per port may be about. */
const PORTS = [80, 443, 8080, 65_535];
const KNOWN_KEYS = GROUPS.flatMap(({ annotations }) => annotations.map(({ key }) => key));

const key = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...KNOWN_KEYS) },
  { weight: 1, arbitrary: fc.constantFrom(...KNOWN_KEYS).map((known) => known.slice(0, -1)) },
  { weight: 1, arbitrary: fc.constantFrom(...KNOWN_KEYS).map((known) => known.toUpperCase()) },
  { weight: 1, arbitrary: fc.stringMatching(/^[a-z]([a-z.-]{0,20}[a-z])?$/).map((name) => `example.com/${name}`) },
);

/** Values that are right for one key are wrong for most others. */
const VALUES = [
  ["", " ", "true", "TRUE", " true", "false", "yes", "null", "undefined", "[object Object]", "{}", "[]"],
  ["0", "-1", "4", "5", "2", "31", "100", "1e3", "0x10", "9".repeat(400), "NaN", "3.5", "١٢", "+7"],
  [
    "10.0.0.0/8",
    "10.0.0.1/8",
    "0.0.0.0/0",
    "::/0",
    "fd00::/8",
    "1.2.3.4",
    "1.2.3.256",
    "10.240.7.7",
    "::1",
    "fe80::1%eth0",
  ],
  ["20.1.1.1", "203.0.113.7,203.0.113.8", ",", ",,,", " , ", "a=b", "=", "a=", "=b", "a=b=c", "a=b,a=c,A=d"],
  ["__auto__", "__AUTO__,x", "agents", "kubernetes", "subnet", "subnet2", "nsg", "vnet", "rg", "other-group"],
  ["../../..", "rg/providers/Microsoft.Network/loadBalancers/kubernetes#", "x?y=z", "%2e%2e%2f", "a/b", "/", "\\", "."],
  [
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/publicIPPrefixes/p",
    "/subscriptions/s/resourceGroups/g",
  ],
  [
    "Http",
    "HTTPS",
    "tcp",
    "Gopher",
    "/healthz",
    "healthz",
    "/a b",
    "http",
    "report",
    "enforce",
    "AzureCloud",
    "Internet",
  ],
  [
    "ümläut",
    "名前",
    "\u0000",
    "\n",
    "\r\nX-Header: 1",
    "\u202e",
    "😀",
    "\ud800",
    "__proto__",
    "constructor",
    "toString",
  ],
  ["x".repeat(10_000)],
].flat();
const value = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom(...VALUES) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
);

const annotation = fc
  .tuple(key, value, fc.constantFrom(...PORTS))
  .map(([name, text, port]): [string, string] => [name.replace("{port}", String(port)), text]);
const mark = fc
  .constantFrom("", "changing", "changing groups=../..,rg addresses=1.2.3.4,x", "d41d8cd9 groups= addresses=,", "  ")
  .map((text): [string, string] => [APPLIED_ANNOTATION, text]);

const annotations = fc
  .tuple(fc.array(annotation, { maxLength: 8 }), fc.option(mark, { nil: undefined }))
  .map(([entries, marked]) => Object.fromEntries(marked === undefined ? entries : [...entries, marked]));

const port: fc.Arbitrary<Partial<ServicePort>> = fc.record({
  port: fc.oneof(fc.constantFrom(...PORTS), fc.integer({ min: 1, max: 65_535 })),
  protocol: fc.constantFrom("TCP", "UDP", "SCTP"),
});

/** One of a kind by number and protocol, as the API server demands, and named where there are several. */
const ports = fc
  .uniqueArray(port, {
    minLength: 1,
    maxLength: 300,
    size: "small",
    selector: ({ port: number, protocol }) => `${number} ${protocol}`,
  })
  .map((all) => all.map((each, at) => ({ ...each, name: `p${at}` })));

export interface HostileService {
  readonly annotations: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  readonly spec: {
    readonly ports: readonly Partial<ServicePort>[];
    readonly externalTrafficPolicy: "Cluster" | "Local";
    readonly sessionAffinity: "None" | "ClientIP";
    readonly loadBalancerIP?: string;
    readonly loadBalancerSourceRanges?: readonly string[];
  };
}

export const hostileService: fc.Arbitrary<HostileService> = fc.record({
  annotations,
  finalizers: fc.subarray(["example.com/other", "foregroundDeletion"]),
  spec: fc.record(
    {
      ports,
      externalTrafficPolicy: fc.constantFrom("Cluster", "Local"),
      sessionAffinity: fc.constantFrom("None", "ClientIP"),
      loadBalancerIP: fc.constantFrom(...VALUES),
      loadBalancerSourceRanges: fc.subarray(["10.0.0.0/8", "0.0.0.0/0", "192.0.2.0/24", "fd00::/8"]),
    },
    { requiredKeys: ["ports", "externalTrafficPolicy", "sessionAffinity"] },
  ),
});
