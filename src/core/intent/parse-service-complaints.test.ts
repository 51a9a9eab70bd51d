/** What parsing says about Services that ask for what cannot be, or for nothing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aPort, type ServiceShape } from "../../../test/support/core-fixtures.ts";
import { accepted, refused } from "../../../test/support/parsed-service.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";

const INTERNAL = { "azure-load-balancer-internal": "true" };
const BASIC = { sku: "basic" } as const;
const GATEWAY = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/loadBalancers/gateway";
const V6 = { ipFamilies: ["IPv6"] } as const;

const warnings: readonly (readonly [string, ServiceShape, Partial<ClusterConfig>, string, RegExp])[] = [
  [
    "mode on Standard",
    { annotations: { "azure-load-balancer-mode": "as1" } },
    {},
    "AnnotationHasNoEffect",
    /azure-load-balancer-mode has no effect: Standard/,
  ],
  [
    "all ports on an external Service",
    { annotations: { "azure-load-balancer-enable-high-availability-ports": "true" } },
    {},
    "AnnotationHasNoEffect",
    /only internal/,
  ],
  [
    "a subnet on an external Service",
    { annotations: { "azure-load-balancer-internal-subnet": "s" } },
    {},
    "AnnotationHasNoEffect",
    /internal-subnet has no effect/,
  ],
  [
    "a public IP on an internal Service",
    { annotations: { ...INTERNAL, "azure-pip-name": "p" } },
    {},
    "AnnotationHasNoEffect",
    /no public IP/,
  ],
  [
    "connection tracking on Basic",
    { annotations: { "azure-load-balancer-connection-tracking": "true" } },
    BASIC,
    "AnnotationHasNoEffect",
    /connection-tracking has no effect: only Standard tracks connections/,
  ],
  [
    "what happens where no node is healthy, on Basic",
    { annotations: { "azure-load-balancer-health-probe-no-healthy-backends": "AllProbedUp" } },
    BASIC,
    "AnnotationHasNoEffect",
    /no-healthy-backends has no effect: only Standard has it/,
  ],
  [
    "the same for the probe of all Services",
    { annotations: { "azure-load-balancer-health-probe-no-healthy-backends": "AllProbedUp" } },
    { sharedProbe: { port: 10_256, path: "/healthz" } },
    "AnnotationHasNoEffect",
    /no-healthy-backends has no effect: the probe is that of all Services/,
  ],
  [
    "a flag that is neither true nor false, and exposes nothing",
    { annotations: { "azure-load-balancer-disable-tcp-reset": "yes" } },
    {},
    "InvalidAnnotation",
    /tcp-reset: "yes" is taken as false; allowed: true, false/,
  ],
  [
    "a key without its prefix",
    { rawAnnotations: { "azure-load-balancer-internal": "true" } },
    {},
    "UnknownAnnotation",
    /azure-load-balancer-internal has no effect without its prefix: did you mean service\.beta/,
  ],
  [
    "another cloud's key for an internal Service",
    { rawAnnotations: { "networking.gke.io/load-balancer-type": "Internal" } },
    {},
    "UnknownAnnotation",
    /another cloud's.*azure-load-balancer-internal: "true"/,
  ],
  [
    "a probe protocol that is none",
    { annotations: { "azure-load-balancer-health-probe-protocol": "grpc" } },
    {},
    "InvalidAnnotation",
    /"grpc" is taken as Tcp; allowed: Tcp, Http, Https/,
  ],
  [
    "Https on Basic",
    { annotations: { "azure-load-balancer-health-probe-protocol": "https" } },
    BASIC,
    "AnnotationHasNoEffect",
    /Basic has no Https/,
  ],
  [
    "an appProtocol that hides the annotation",
    {
      annotations: { "azure-load-balancer-health-probe-protocol": "http" },
      spec: { ports: [aPort(80, { appProtocol: "kubernetes.io/h2c" })] },
    },
    {},
    "AnnotationHasNoEffect",
    /h2c.*port_80_health-probe_protocol: "http"/,
  ],
  [
    "a pair of tags that is none",
    { annotations: { "azure-pip-tags": "a=1,b" } },
    {},
    "InvalidAnnotation",
    /azure-pip-tags: "b" is not one key=value/,
  ],
  [
    "a tag that says whose a public IP is",
    { annotations: { "azure-pip-tags": "a=1,K8S-azure-Service=x" } },
    {},
    "InvalidAnnotation",
    /azure-pip-tags: "K8S-azure-Service" is a tag by which .* is left out/,
  ],
  [
    "a pinned address beside a name",
    { annotations: { "azure-pip-name": "p", "azure-load-balancer-ipv4": "20.0.0.1" } },
    {},
    "ConflictConfiguration",
    /20\.0\.0\.1 has no effect beside/,
  ],
  [
    "an address of a family that it has not",
    { annotations: { "azure-load-balancer-ipv6": "2603::1" } },
    {},
    "AnnotationHasNoEffect",
    /no IPv6/,
  ],
  [
    "a range that is none",
    { spec: { loadBalancerSourceRanges: ["10.0.0.1/8"] } },
    {},
    "InvalidSourceRanges",
    /write 10\.0\.0\.0\/8.*denied/,
  ],
  [
    "an annotated range that is none",
    { annotations: { "azure-allowed-ip-ranges": "" } },
    {},
    "InvalidAllowedIPRanges",
    /"" is no CIDR/,
  ],
  [
    "destinations of a Service whose packets do not arrive at nodes",
    { annotations: { "azure-allowed-destination-ip-ranges": "10.240.0.0/16" } },
    {},
    "AnnotationHasNoEffect",
    /azure-allowed-destination-ip-ranges has no effect: its packets keep their frontend's address/,
  ],
  [
    "destinations of the other family",
    {
      annotations: {
        "azure-allowed-destination-ip-ranges": "fd00::/64",
        "azure-disable-load-balancer-floating-ip": "true",
      },
    },
    {},
    "AnnotationHasNoEffect",
    /it names no range of IPv4/,
  ],
  [
    "ranges beside service tags",
    { annotations: { "azure-allowed-service-tags": "Storage" }, spec: { loadBalancerSourceRanges: ["10.0.0.0/8"] } },
    {},
    "ConflictConfiguration",
    /both are allowed/,
  ],
  [
    "denying others without a range",
    { annotations: { "azure-deny-all-except-load-balancer-source-ranges": "true" } },
    {},
    "AnnotationHasNoEffect",
    /nothing to except/,
  ],
  [
    "an unknown drift policy",
    { annotations: { "azlb.io/drift-policy": "fix" } },
    {},
    "InvalidAnnotation",
    /"fix" is taken as report/,
  ],
  [
    "sharing that is neither",
    { annotations: { "azure-shared-securityrule": "no" } },
    {},
    "InvalidAnnotation",
    /"no" is taken as true/,
  ],
  [
    "a misspelt key",
    { annotations: { "azure-load-balancer-health-probe-path": "/" } },
    {},
    "UnknownAnnotation",
    /did you mean service\.beta\.kubernetes\.io\/azure-load-balancer-health-probe-request-path/,
  ],
  [
    "a port that the Service has not",
    { annotations: { port_81_no_probe_rule: "true" } },
    {},
    "UnknownAnnotation",
    /names port 81.*it has 80/,
  ],
];
for (const [what, shape, config, reason, message] of warnings) {
  test(`${what} is warned of`, () => {
    const said = accepted(shape, config).warnings;
    assert.equal(said.length, 1, JSON.stringify(said));
    assert.equal(said[0]?.reason, reason);
    assert.match(said[0]?.message ?? "", message);
  });
}

const refusals: readonly (readonly [string, ServiceShape, Partial<ClusterConfig>, RegExp])[] = [
  [
    "a distribution that Azure has not",
    { annotations: { "azure-load-balancer-distribution": "RoundRobin" } },
    {},
    /azure-load-balancer-distribution: "RoundRobin" is none of Default, SourceIP, SourceIPProtocol/,
  ],
  [
    "connection tracking that is neither on nor off",
    { annotations: { "azure-load-balancer-connection-tracking": "yes" } },
    {},
    /connection-tracking: "yes" is none of true, false/,
  ],
  [
    "a gateway load balancer without its frontend",
    { annotations: { "azure-load-balancer-gateway": GATEWAY } },
    {},
    /is the id of a load balancer: add \/frontendIPConfigurations\/ and the name of its frontend/,
  ],
  [
    "a gateway that is no id",
    { annotations: { "azure-load-balancer-gateway": "firewall" } },
    {},
    /azure-load-balancer-gateway: "firewall" is no id like \/subscriptions/,
  ],
  [
    "a gateway before an internal Service, which would go around it",
    { annotations: { ...INTERNAL, "azure-load-balancer-gateway": `${GATEWAY}/frontendIPConfigurations/f` } },
    {},
    /gateway load balancers before external frontends on Standard only: remove the annotation/,
  ],
  [
    "more ranges than Azure takes",
    { spec: { loadBalancerSourceRanges: Array.from({ length: 4_001 }, () => "10.0.0.0/8") } },
    {},
    /has 4001 ranges, more than 4000: name fewer/,
  ],
  [
    "more items in an annotation than Azure takes",
    { annotations: { "azure-allowed-ip-ranges": "10.0.0.0/8,".repeat(4_000) } },
    {},
    /azure-allowed-ip-ranges: "10[^"]*…" has more than 4000 items between commas: name fewer/,
  ],
  [
    "more ports than any load balancer has",
    { spec: { ports: Array.from({ length: 4_001 }, (_, at) => aPort(at + 1)) } },
    {},
    /spec.ports has 4001 ports, more than 4000/,
  ],
  ...["azure-load-balancer-internal", "azure-disable-load-balancer-nsg-rule"].map(
    (key) =>
      [
        `${key} that is neither true nor false`,
        { annotations: { [key]: "yes" } },
        {},
        new RegExp(`${key}: "yes" decides who can reach the Service and is neither true nor false`),
      ] as const,
  ),
  ...["azure-load-balancer-internl", "Azure-Load-Balancer-Internal", "azure-internal-load-balancer"].map(
    (key) =>
      [
        `${key}, a near miss of a key that decides exposure,`,
        { annotations: { [key]: "true" } },
        {},
        /did you mean service\.beta\.kubernetes\.io\/azure-load-balancer-internal, which decides who can reach/,
      ] as const,
  ),
  [
    "a near miss of source ranges",
    { annotations: { "azure-allowed-ip-range": "10.0.0.0/8" } },
    {},
    /azure-allowed-ip-ranges, which/,
  ],
  ...["10.0.0.1", "169.254.169.254", "127.0.0.1", "168.63.129.16", "0.0.0.0"].map(
    (address) =>
      [
        `an additional address that can never be public (${address})`,
        { annotations: { "azure-additional-public-ips": `20.1.2.3,${address}` } },
        {},
        new RegExp(`azure-additional-public-ips: ${address.replaceAll(".", "\\.")} can never be public`),
      ] as const,
  ),
  [
    "an idle timeout too short",
    { annotations: { "azure-load-balancer-tcp-idle-timeout": "3" } },
    {},
    /tcp-idle-timeout: "3" is not a whole number from 4 to 100/,
  ],
  [
    "one too long for Basic",
    { annotations: { "azure-load-balancer-tcp-idle-timeout": "31" } },
    BASIC,
    /"31" is too long: 30/,
  ],
  [
    "one that is no number",
    { annotations: { "azure-load-balancer-tcp-idle-timeout": "4.5" } },
    {},
    /"4\.5" is not a whole/,
  ],
  [
    "a probe interval too short",
    { annotations: { "azure-load-balancer-health-probe-interval": "4" } },
    {},
    /interval: "4" is not/,
  ],
  [
    "too few probes",
    { annotations: { "azure-load-balancer-health-probe-num-of-probe": "1" } },
    {},
    /num-of-probe: "1"/,
  ],
  [
    "probes that take two minutes",
    { annotations: { "azure-load-balancer-health-probe-interval": "60" } },
    {},
    /2 probes every 60 s take 120 s/,
  ],
  [
    "a probe port that is none",
    { annotations: { "port_80_health-probe_port": "nope" } },
    {},
    /port_80_health-probe_port: "nope" is not the name/,
  ],
  ["a probe port of zero", { annotations: { "port_80_health-probe_port": "0" } }, {}, /"0" is not the name/],
  [
    "an IPv6 address under the IPv4 key",
    { annotations: { "azure-load-balancer-ipv4": "2603::1" } },
    {},
    /ipv4: "2603::1" is no IPv4 address/,
  ],
  [
    "a private address on an external Service",
    { spec: { loadBalancerIP: "10.0.0.1" } },
    {},
    /10\.0\.0\.1 cannot be a public one/,
  ],
  ["Azure's own address", { spec: { loadBalancerIP: "168.63.129.16" } }, {}, /cannot be a public one/],
  ["a load balancer IP that is none", { spec: { loadBalancerIP: "nope" } }, {}, /spec\.loadBalancerIP: "nope"/],
  ["a prefix that is no id", { annotations: { "azure-pip-prefix-id": "p" } }, {}, /prefix-id: "p" is no id like/],
  [
    "a prefix with a name that leads elsewhere",
    {
      annotations: {
        "azure-pip-prefix-id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/publicIPPrefixes/p?x#",
      },
    },
    {},
    /is no id like/,
  ],
  [
    "a resource group that leads elsewhere",
    {
      annotations: { "azure-load-balancer-resource-group": "rg/providers/Microsoft.Network/loadBalancers/kubernetes#" },
    },
    {},
    /azure-load-balancer-resource-group: "rg\/providers.*#" is no name of a resource group: letters/,
  ],
  [
    "one that leads up",
    { annotations: { "azure-load-balancer-resource-group": ".." } },
    {},
    /".." is no name of a resource/,
  ],
  [
    "a subnet that leads elsewhere",
    { annotations: { ...INTERNAL, "azure-load-balancer-internal-subnet": "../../x" } },
    {},
    /internal-subnet: "..\/..\/x" is no name of a subnet/,
  ],
  [
    "a value as long as a book, quoted in part",
    { annotations: { "azure-load-balancer-tcp-idle-timeout": "9".repeat(100_000) } },
    {},
    /^.{0,400}is not a whole number from 4 to 100$/,
  ],
  [
    "a DNS label for two families",
    { annotations: { "azure-dns-label-name": "my-app" }, spec: { ipFamilies: ["IPv6", "IPv4"] } },
    {},
    /^service\.beta\.kubernetes\.io\/azure-dns-label-name: "my-app" cannot be the label of a dual-stack Service, .*: remove the annotation, or make a Service of each family/,
  ],
  ["a DNS label that is none", { annotations: { "azure-dns-label-name": "My_App" } }, {}, /"My_App" is no DNS label/],
  [
    "additional addresses that are none",
    { annotations: { "azure-additional-public-ips": "20.0.0.1,x" } },
    {},
    /no address: "x"/,
  ],
  [
    "two kinds of source ranges",
    { annotations: { "azure-allowed-ip-ranges": "10.0.0.0/8" }, spec: { loadBalancerSourceRanges: ["10.0.0.0/8"] } },
    {},
    /both given: keep one/,
  ],
  [
    "a destination that is no range",
    { annotations: { "azure-allowed-destination-ip-ranges": "10.240.0.0/16,node-1" } },
    {},
    /azure-allowed-destination-ip-ranges: "node-1" is no CIDR such as/,
  ],
  [
    "a destination with host bits",
    { annotations: { "azure-allowed-destination-ip-ranges": "10.240.0.9/16" } },
    {},
    /"10\.240\.0\.9\/16" has host bits set: write 10\.240\.0\.0\/16/,
  ],
  [
    "every address as destination",
    { annotations: { "azure-allowed-destination-ip-ranges": "::/0" } },
    {},
    /"::\/0" is every address: name the subnets of the nodes/,
  ],
  ["no service tag at all", { annotations: { "azure-allowed-service-tags": "" } }, {}, /names no service tag/],
  ["SCTP on an external Service", { spec: { ports: [aPort(80, { protocol: "SCTP" })] } }, {}, /port 80 is SCTP/],
  [
    "a port without node port to probe",
    { spec: { ports: [{ protocol: "TCP", port: 80 }] } },
    {},
    /no nodePort to probe/,
  ],
  [
    "a port without node port to reach",
    {
      annotations: { "azure-disable-load-balancer-floating-ip": "true", port_80_no_probe_rule: "true" },
      spec: { ports: [{ protocol: "TCP", port: 80 }] },
    },
    {},
    /has no nodePort, which it needs/,
  ],
  [
    "internal IPv6 without node port",
    {
      annotations: { ...INTERNAL, port_80_no_probe_rule: "true" },
      spec: { ...V6, ports: [{ protocol: "TCP", port: 80 }] },
    },
    {},
    /internal IPv6 has no floating IP/,
  ],
  [
    "Local without its health check",
    { spec: { externalTrafficPolicy: "Local" } },
    {},
    /healthCheckNodePort is missing/,
  ],
  ["no ports", { spec: { ports: [] } }, {}, /spec\.ports is empty/],
];
for (const [what, shape, config, message] of refusals) {
  test(`${what} is refused by key, value and fix`, () => assert.match(refused(shape, config).message, message));
}

test("keys of a private link service that is not asked for refuse nothing", () => {
  assert.deepEqual(accepted({ annotations: { "azure-pls-name": "x", "azure-pls-create": "false" } }).warnings, []);
});

test("a choice of load balancers has no effect where there is one, and unknown ones beside known ones have none", () => {
  const annotations = { "azure-load-balancer-configurations": "kubernetes, lb9" };
  const one = accepted({ annotations });
  assert.match(one.warnings[0]?.message ?? "", /configurations.*no multipleStandardLoadBalancerConfigurations/);
  const selectors = { serviceSelector: undefined, namespaceSelector: undefined, nodeSelector: undefined };
  const loadBalancers = [{ name: "kubernetes", primaryVmSet: "vmss", allowServicePlacement: true, ...selectors }];
  const several = accepted({ annotations }, { loadBalancers });
  assert.match(several.warnings[0]?.message ?? "", /"lb9" is no load balancer of the cloud config/);
  assert.deepEqual(several.intent.loadBalancers, ["kubernetes", "lb9"]);
});

test("all that is wrong is said at once", () => {
  const { message } = refused({
    annotations: { "azure-load-balancer-tcp-idle-timeout": "3", "azure-pip-prefix-id": "p" },
  });
  assert.ok(message.includes("idle-timeout") && message.includes("prefix-id"), message);
});

test("misspelt keys are told beside what is wrong", () => {
  for (const wrong of [{ "azure-load-balancer-tcp-idle-timeout": "3" }, { "azure-load-balancer-internal": "yes" }]) {
    const { message, warnings = [] } = refused({ annotations: { ...wrong, "azure-load-balancer-mod": "as1" } });
    assert.doesNotMatch(message, /mod\b/);
    assert.deepEqual(
      warnings.map((warning) => `${warning.reason}: ${warning.message}`),
      [
        "UnknownAnnotation: unknown annotation service.beta.kubernetes.io/azure-load-balancer-mod: " +
          "did you mean service.beta.kubernetes.io/azure-load-balancer-mode?",
      ],
    );
  }
});

test("a foreign key is not looked at", () => {
  const keys = ["aws-load-balancer-type", "example.com/azure-load-balancer-internal", "prometheus.io/port"];
  assert.deepEqual(accepted({ annotations: Object.fromEntries(keys.map((key) => [key, "x"])) }).warnings, []);
});

test("blanks around a flag that decides exposure mean nothing", () => {
  assert.equal(accepted({ annotations: { "azure-load-balancer-internal": " True " } }, {}).intent.scope, "internal");
});

test("thousands of unknown keys are looked at and told in part", () => {
  const letters = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwx";
  const keys = Array.from({ length: 2_800 }, (_, at) => `azure-${letters}${at}z`);
  const said = accepted({ annotations: Object.fromEntries(keys.map((key) => [key, "x"])) }, {}).warnings;
  assert.equal(said.length, 21);
  assert.match(said.at(-1)?.message ?? "", /^2780 more annotations/);
});

test("what is wrong with thousands of ports is told in part", () => {
  const ports = Array.from({ length: 100 }, (_, at) => aPort(1 + at, { appProtocol: "h2c" }));
  const annotations = { "azure-load-balancer-health-probe-protocol": "x".repeat(1_000) };
  const { warnings: told } = accepted({ annotations, spec: { ports } });
  assert.equal(told.length, 41);
  assert.match(told.at(-1)?.message ?? "", /^and \d+ more like these$/);
  for (const { message } of told) assert.ok(message.length < 600, message);
  const sctp = refused({ spec: { ports: ports.map((port) => ({ ...port, protocol: "SCTP" as const })) } });
  assert.match(sctp.message, /port 1 is SCTP.*; and 60 more like these$/);
});

test("source ranges of all places are at most so many together", () => {
  const ranges = (count: number): string[] =>
    Array.from({ length: count }, (_, at) => `20.${at >> 8}.${at & 255}.0/24`);
  const annotations = { "azure-allowed-ip-ranges": ranges(2_001).join(",") };
  const { message } = refused({ annotations, spec: { loadBalancerSourceRanges: ranges(2_000) } });
  assert.match(
    message,
    /azure-allowed-ip-ranges brings the source ranges of the Service to more than 4000: name fewer/,
  );
});

test("hundreds of tags are refused with the key", () => {
  const tags = Array.from({ length: 201 }, (_, at) => `k${at}=v`).join(",");
  assert.match(refused({ annotations: { "azure-pip-tags": tags } }).message, /azure-pip-tags has more than 200 items/);
});
