/**
 * What a Service may ask for by annotations and by its spec, and what Azure and its status must then show. Run by
 * `annotations.ts`; what needs several availability sets stands in `basic-modes.ts`.
 */
import assert from "node:assert/strict";

import type { FrontendIPConfiguration, LoadBalancingRule, Probe, PublicIPAddress, SecurityRule } from "arm-network-36";

import { listed } from "../../contract/azure/azure-under-test.ts";
import { eventually } from "../../support/eventually.ts";
import { type Manifest, propertiesOf, type ServiceRig, WITHIN_MS } from "../../support/service-rig.ts";

/** What the SDK shows of one Service. */
export interface Seen {
  readonly ips: readonly string[];
  readonly loadBalancer: string;
  readonly frontends: readonly FrontendIPConfiguration[];
  readonly rules: readonly LoadBalancingRule[];
  readonly probes: readonly Probe[];
  /** Those that its frontends stand on, in whatever resource group. */
  readonly publicIPs: readonly PublicIPAddress[];
  /** Security rules that name one of its addresses. */
  readonly security: readonly SecurityRule[];
}

export interface Case {
  readonly asks: string;
  /** Of a cluster with both families; otherwise of one with IPv4 alone. */
  readonly dualStack?: boolean;
  readonly annotations?: Manifest["annotations"];
  /** Makes what must be there before; answers annotations that name it. */
  readonly prepare?: (rig: ServiceRig) => Promise<NonNullable<Manifest["annotations"]>>;
  readonly spec?: Manifest["spec"];
  readonly check: (seen: Seen, rig: ServiceRig, name: string) => void | Promise<void>;
}

interface Part {
  readonly name: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Of a Service, as they are on the wire: fields that are newer than the SDK included. */
async function partsOf(rig: ServiceRig, name: string, list: string): Promise<Part[]> {
  const { metadata } = await rig.service(name);
  const base = `a${metadata.uid.replaceAll("-", "")}`.slice(0, 32);
  const bodies = await rig.list("loadBalancers");
  return bodies
    .flatMap((body) => (propertiesOf(body)[list] ?? []) as Part[])
    .filter((one) => one.name.startsWith(base));
}

const TWO_PORTS = [
  { name: "http", port: 80 },
  { name: "https", port: 443 },
];
const INTERNAL = { "azure-load-balancer-internal": "true" };

export const CASES: readonly Case[] = [
  {
    asks: "nothing special",
    check: ({ ips, frontends, rules, probes, publicIPs, security }) => {
      assert.deepEqual(
        publicIPs.map(({ ipAddress }) => ipAddress),
        ips,
      );
      assert.equal(publicIPs[0]?.publicIPAllocationMethod, "Static");
      assert.deepEqual(publicIPs[0]?.zones, ["1", "2", "3"]);
      assert.equal(frontends.length, 1);
      assert.equal(rules[0]?.enableFloatingIP, true);
      assert.equal(rules[0]?.backendPort, 80);
      assert.equal(rules[0]?.enableTcpReset, true);
      assert.equal(rules[0]?.idleTimeoutInMinutes, 4);
      assert.equal(rules[0]?.loadDistribution, "Default");
      assert.equal(probes[0]?.protocol, "Tcp");
      assert.deepEqual(
        security.map(({ sourceAddressPrefix, access }) => [sourceAddressPrefix, access]),
        [["Internet", "Allow"]],
      );
    },
  },
  {
    asks: "azure-load-balancer-internal",
    annotations: INTERNAL,
    check: ({ ips, loadBalancer, frontends, publicIPs, security }) => {
      assert.equal(loadBalancer, "kubernetes-internal");
      assert.equal(frontends[0]?.privateIPAddress, ips[0]);
      assert.match(frontends[0]?.subnet?.id ?? "", /\/subnets\/subnet$/);
      assert.deepEqual([publicIPs, security], [[], []]);
    },
  },
  {
    asks: "azure-load-balancer-internal-subnet",
    annotations: { ...INTERNAL, "azure-load-balancer-internal-subnet": "subnet2" },
    check: ({ ips, frontends }) => {
      assert.match(frontends[0]?.subnet?.id ?? "", /\/subnets\/subnet2$/);
      assert.match(frontends[0]?.name ?? "", /-subnet2$/);
      assert.match(ips[0] ?? "", /^10\.241\./);
    },
  },
  {
    asks: "azure-load-balancer-ipv4 of the subnet",
    annotations: { ...INTERNAL, "azure-load-balancer-ipv4": "10.240.7.7" },
    check: ({ ips, frontends }) => {
      assert.deepEqual(ips, ["10.240.7.7"]);
      assert.equal(frontends[0]?.privateIPAllocationMethod, "Static");
    },
  },
  {
    asks: "azure-load-balancer-mode on Standard, where it has no effect",
    annotations: { "azure-load-balancer-mode": "__auto__" },
    check: async ({ loadBalancer }, rig, name) => {
      assert.equal(loadBalancer, "kubernetes");
      assert.match(await rig.warned(name, "AnnotationHasNoEffect"), /azure-load-balancer-mode/);
    },
  },
  {
    asks: "azure-dns-label-name",
    annotations: { "azure-dns-label-name": "my-label" },
    check: ({ publicIPs }) => {
      assert.equal(publicIPs[0]?.dnsSettings?.domainNameLabel, "my-label");
      assert.match(publicIPs[0]?.tags?.["k8s-azure-dns-label-service"] ?? "", /^default\//);
    },
  },
  {
    asks: "azure-pip-tags and azure-pip-ip-tags",
    annotations: { "azure-pip-tags": "team=blue,cost=42", "azure-pip-ip-tags": "RoutingPreference=Internet" },
    check: ({ publicIPs }) => {
      assert.equal(publicIPs[0]?.tags?.["team"], "blue");
      assert.equal(publicIPs[0]?.tags?.["cost"], "42");
      assert.deepEqual(publicIPs[0]?.ipTags, [{ ipTagType: "RoutingPreference", tag: "Internet" }]);
    },
  },
  {
    asks: "azure-additional-public-ips",
    annotations: { "azure-additional-public-ips": "198.51.100.7" },
    check: ({ ips, security }) => {
      assert.deepEqual(ips.slice(1), ["198.51.100.7"]);
      const own = security.filter(({ destinationAddressPrefix }) => destinationAddressPrefix === "198.51.100.7");
      assert.deepEqual(
        own.map(({ name }) => /^k8s-azure-lb_a[\da-f]{31}_allow_IPv4_/.test(name ?? "")),
        [true],
      );
    },
  },
  {
    asks: "azure-load-balancer-tcp-idle-timeout",
    annotations: { "azure-load-balancer-tcp-idle-timeout": "90" },
    check: ({ rules }) => assert.equal(rules[0]?.idleTimeoutInMinutes, 90),
  },
  {
    asks: "azure-load-balancer-disable-tcp-reset",
    annotations: { "azure-load-balancer-disable-tcp-reset": "true" },
    check: ({ rules }) => assert.equal(rules[0]?.enableTcpReset, false),
  },
  {
    asks: "azure-load-balancer-enable-high-availability-ports",
    annotations: { ...INTERNAL, "azure-load-balancer-enable-high-availability-ports": "true" },
    spec: { ports: TWO_PORTS },
    check: ({ rules }) =>
      assert.deepEqual(
        rules.map(({ protocol, frontendPort, backendPort }) => [protocol, frontendPort, backendPort]),
        [["All", 0, 0]],
      ),
  },
  {
    asks: "azure-disable-load-balancer-floating-ip",
    annotations: { "azure-disable-load-balancer-floating-ip": "true" },
    check: async ({ rules }, rig) => {
      assert.equal(rules[0]?.enableFloatingIP, false);
      assert.ok((rules[0]?.backendPort ?? 0) >= 30_000);
      const opened = await securityRules(rig);
      const own = opened.find(({ destinationPortRanges }) =>
        destinationPortRanges?.includes(String(rules[0]?.backendPort)),
      );
      assert.deepEqual(own?.destinationAddressPrefixes, rig.azure.nodes.map(({ ip }) => ip).sort());
    },
  },
  {
    asks: "azure-allowed-destination-ip-ranges",
    annotations: {
      "azure-disable-load-balancer-floating-ip": "true",
      "azure-allowed-destination-ip-ranges": "10.240.0.0/17,10.240.128.0/17,fd00::/64",
    },
    check: async ({ rules }, rig) => {
      const port = String(rules[0]?.backendPort);
      const own = (await securityRules(rig)).filter(({ destinationPortRanges }) =>
        destinationPortRanges?.includes(port),
      );
      assert.deepEqual(
        own.map(({ destinationAddressPrefix }) => destinationAddressPrefix),
        ["10.240.0.0/16"],
      );
    },
  },
  {
    asks: "azure-disable-load-balancer-nsg-rule",
    annotations: { "azure-disable-load-balancer-nsg-rule": "true" },
    check: ({ security }) => assert.deepEqual(security, []),
  },
  {
    asks: "azure-allowed-service-tags",
    annotations: { "azure-allowed-service-tags": "AzureCloud,Storage" },
    check: ({ security }) =>
      assert.deepEqual(
        new Set(security.map(({ sourceAddressPrefix }) => sourceAddressPrefix)),
        new Set(["AzureCloud", "Storage"]),
      ),
  },
  {
    asks: "azure-allowed-ip-ranges with azure-deny-all-except-load-balancer-source-ranges",
    annotations: {
      "azure-allowed-ip-ranges": "10.0.0.0/9,10.128.0.0/9,192.168.0.0/16",
      "azure-deny-all-except-load-balancer-source-ranges": "true",
    },
    check: ({ security }) => {
      const allow = security.find(({ access }) => access === "Allow");
      assert.deepEqual(allow?.sourceAddressPrefixes, ["10.0.0.0/8", "192.168.0.0/16"]);
      const deny = security.find(({ access }) => access === "Deny");
      assert.equal(deny?.sourceAddressPrefix, "*");
      assert.ok((deny?.priority ?? 0) > (allow?.priority ?? 9_999));
    },
  },
  {
    asks: "load-balancer-source-ranges",
    annotations: { "load-balancer-source-ranges": "203.0.113.0/25,203.0.113.128/25" },
    check: ({ security }) =>
      assert.deepEqual(
        security.map(({ sourceAddressPrefix }) => sourceAddressPrefix),
        ["203.0.113.0/24"],
      ),
  },
  {
    asks: "spec.loadBalancerSourceRanges",
    spec: { loadBalancerSourceRanges: ["203.0.113.0/24"] },
    check: ({ security }) =>
      assert.deepEqual(
        security.map(({ sourceAddressPrefix }) => sourceAddressPrefix),
        ["203.0.113.0/24"],
      ),
  },
  {
    asks: "azure-shared-securityrule: false",
    annotations: { "azure-shared-securityrule": "false" },
    check: ({ security, frontends }) =>
      assert.match(security[0]?.name ?? "", new RegExp(`^k8s-azure-lb_${frontends[0]?.name}_`)),
  },
  {
    asks: "all global health-probe keys",
    annotations: {
      "azure-load-balancer-health-probe-protocol": "http",
      "azure-load-balancer-health-probe-request-path": "/healthy",
      "azure-load-balancer-health-probe-interval": "10",
      "azure-load-balancer-health-probe-num-of-probe": "3",
    },
    check: ({ probes }) => {
      const { protocol, requestPath, intervalInSeconds, probeThreshold } = probes[0] ?? {};
      assert.deepEqual([protocol, requestPath, intervalInSeconds, probeThreshold], ["Http", "/healthy", 10, 3]);
    },
  },
  {
    asks: "health-probe keys per port, a port without a rule, a port without a probe",
    annotations: {
      "port_80_health-probe_protocol": "Http",
      "port_80_health-probe_request-path": "/eighty",
      "port_80_health-probe_interval": "7",
      "port_80_health-probe_num-of-probe": "4",
      "port_443_health-probe_port": "http",
      port_8080_no_lb_rule: "true",
      port_9090_no_probe_rule: "true",
    },
    spec: { ports: [...TWO_PORTS, { name: "alt", port: 8080 }, { name: "plain", port: 9090 }] },
    check: ({ rules, probes }) => {
      assert.deepEqual(new Set(rules.map(({ frontendPort }) => frontendPort)), new Set([80, 443, 9090]));
      assert.equal(rules.find(({ frontendPort }) => frontendPort === 9090)?.probe, undefined);
      const eighty = probes.find(({ name }) => name?.endsWith("-TCP-80"));
      assert.deepEqual(
        [eighty?.protocol, eighty?.requestPath, eighty?.intervalInSeconds, eighty?.probeThreshold],
        ["Http", "/eighty", 7, 4],
      );
      assert.equal(probes.find(({ name }) => name?.endsWith("-TCP-443"))?.port, eighty?.port);
    },
  },
  {
    asks: "spec.externalIPs, which nothing is opened for and no status shows",
    spec: { externalIPs: ["198.51.100.9"] },
    check: async ({ ips, publicIPs }, rig) => {
      assert.deepEqual(
        ips,
        publicIPs.map(({ ipAddress }) => ipAddress),
      );
      assert.ok(!JSON.stringify(await rig.everything()).includes("198.51.100.9"));
    },
  },
  {
    asks: "externalTrafficPolicy: Local",
    spec: { externalTrafficPolicy: "Local", ports: TWO_PORTS },
    check: ({ probes, rules }) => {
      assert.equal(probes.length, 1);
      assert.deepEqual([probes[0]?.protocol, probes[0]?.requestPath], ["Http", "/healthz"]);
      assert.deepEqual([...new Set(rules.map(({ probe }) => probe?.id))], [probes[0]?.id]);
    },
  },
  {
    asks: "azure-load-balancer-distribution",
    annotations: { "azure-load-balancer-distribution": "sourceipprotocol" },
    check: ({ rules }) => assert.equal(rules[0]?.loadDistribution, "SourceIPProtocol"),
  },
  {
    asks: "azure-load-balancer-health-probe-no-healthy-backends, and back",
    annotations: { "azure-load-balancer-health-probe-no-healthy-backends": "AllProbedUp" },
    check: async ({ probes }, rig, name) => {
      assert.equal(probes[0]?.noHealthyBackendsBehavior, "AllProbedUp");
      await rig.annotate(name, { "azure-load-balancer-health-probe-no-healthy-backends": "AllProbedDown" });
      await eventually(async () => {
        const [probe] = await partsOf(rig, name, "probes");
        assert.equal(probe?.properties["noHealthyBackendsBehavior"], "AllProbedDown");
      }, WITHIN_MS);
    },
  },
  {
    asks: "azure-load-balancer-connection-tracking, and back",
    annotations: { "azure-load-balancer-connection-tracking": "true" },
    spec: { ports: [{ port: 443, protocol: "UDP" }] },
    check: async (_, rig, name) => {
      const tracked = async (): Promise<unknown> =>
        (await partsOf(rig, name, "frontendIPConfigurations"))[0]?.properties["enableConnectionTracking"];
      assert.equal(await tracked(), true);
      await rig.annotate(name, { "azure-load-balancer-connection-tracking": "false" });
      await eventually(async () => assert.equal(Boolean(await tracked()), false), WITHIN_MS);
    },
  },
  {
    asks: "azure-load-balancer-gateway, and back",
    prepare: async (rig) => {
      const subnet = { id: rig.networkPath("virtualNetworks/vnet/subnets/subnet") };
      await rig.put("loadBalancers/firewall", {
        location: "westus2",
        sku: { name: "Gateway" },
        properties: { frontendIPConfigurations: [{ name: "appliances", properties: { subnet } }] },
      });
      const frontend = rig.networkPath("loadBalancers/firewall/frontendIPConfigurations/appliances");
      return { "azure-load-balancer-gateway": frontend };
    },
    check: async (_, rig, name) => {
      const gateway = async (): Promise<string> => {
        const [frontend] = await partsOf(rig, name, "frontendIPConfigurations");
        return JSON.stringify(frontend?.properties["gatewayLoadBalancer"] ?? null);
      };
      assert.match(await gateway(), /loadBalancers\/firewall\/frontendIPConfigurations\/appliances/);
      await rig.annotate(name, { "azure-load-balancer-gateway": null });
      await rig.served(name);
      assert.notEqual(await gateway(), "null", "without the annotation it is left as it is");
      await rig.annotate(name, { "azure-load-balancer-gateway": "" });
      await eventually(async () => assert.equal(await gateway(), "null"), WITHIN_MS);
    },
  },
  {
    asks: "sessionAffinity: ClientIP",
    spec: { sessionAffinity: "ClientIP" },
    check: ({ rules }) => assert.equal(rules[0]?.loadDistribution, "SourceIP"),
  },
  {
    asks: "UDP",
    spec: { ports: [{ port: 53, protocol: "UDP" }] },
    check: ({ rules, probes }) => {
      assert.equal(rules[0]?.protocol, "Udp");
      assert.deepEqual(probes, []);
    },
  },
  {
    asks: "SCTP, internal",
    annotations: INTERNAL,
    spec: { ports: [{ port: 38412, protocol: "SCTP" }] },
    check: ({ rules }) => assert.equal(rules[0]?.protocol, "All"),
  },
];

export async function securityRules(rig: ServiceRig): Promise<readonly SecurityRule[]> {
  return listed(rig.azure.network.securityRules.list(rig.azure.resourceGroup, "nsg"));
}
