/**
 * A Service and the config become what the Service asks for, with warnings, or a rejection that says all that is wrong.
 * Only for Services that should have a load balancer: cleaning up needs no more than `ownerOf`.
 */
import type { ClusterConfig } from "../config/cluster-config.ts";
import { serviceKey, type Service } from "../model/kubernetes.ts";
import { ownPoolName, poolName } from "../model/names.ts";
import { AnnotationReader, MOST_ITEMS, mostTold } from "./annotation-reader.ts";
import { OURS } from "./annotations/ours.ts";
import { PLACEMENT } from "./annotations/placement.ts";
import { PORT_KEYS } from "./annotations/probes.ts";
import { RULES } from "./annotations/rules.ts";
import { ownerOf } from "./ownership.ts";
import { parseAccess } from "./parse-access.ts";
import { parseAddresses, familiesOf } from "./parse-addresses.ts";
import { parseDestinations } from "./parse-destinations.ts";
import { parsePrivateLink } from "./parse-private-link.ts";
import type { ServiceIntent } from "./service-intent.ts";
import type { Rejection, Warning } from "../outcome.ts";
import { memoAll } from "../util/memo.ts";
import { ProbeParser } from "./parse-probes.ts";

export type ParsedService = { readonly intent: ServiceIntent; readonly warnings: readonly Warning[] } | Rejection;

const AUTO = "__auto__";
const BASIC_LONGEST_IDLE_MINUTES = 30;

export function parseService(service: Service, config: ClusterConfig): ParsedService {
  return parsed(config, service);
}

/** A Service is parsed for itself, and again for every Service that it shares an address with. */
const parsed = memoAll((config: ClusterConfig, stored: Service): ParsedService => {
  const service = withMostPorts(stored);
  const read = new AnnotationReader(service.metadata.annotations, portsOf(service));
  const { unknown } = read;
  for (const { reason, message } of unknown.problems) read.reject(reason, message);
  const scope = read.isOn(PLACEMENT.internal) ? "internal" : "external";
  const addresses = parseAddresses(service, config, scope, read);
  const ports = parsePorts(service, config, scope, read);
  const intent: ServiceIntent = {
    owner: ownerOf(service),
    scope,
    ...addresses,
    ...ports,
    privateLink: parsePrivateLink(config, { scope, ...addresses, ...ports }, read),
    vmSets: parseMode(config, read),
    loadBalancers: parseConfigurations(config, read),
    hasOwnPool: hasOwnPool(service, config),
    frontendOptions: parseFrontendOptions(config, scope, read),
    access: {
      ...parseAccess(service, scope, read),
      destinations: parseDestinations({ scope, ...addresses, ...ports }, read),
    },
    driftPolicy: read.get(OURS.driftPolicy),
  };
  warnOfIdleConsent(config, read);
  if (read.isOn(OURS.deletionProtection) && scope === "internal") {
    const why = `nothing holds a private address without its frontend: pin it by ${PLACEMENT.ipv4.key}, so that the next Service asks for it`;
    read.warnOfNoEffect(OURS.deletionProtection, why);
  }
  if (service !== stored) {
    const message = `spec.ports has ${stored.spec.ports.length} ports, more than ${MOST_ITEMS}: no load balancer has so many`;
    read.reject("InvalidService", message);
  }
  if (service.spec.ports.length === 0) read.reject("InvalidService", "spec.ports is empty: a load balancer needs one");
  const warnings = mostTold([...read.warnings, ...unknown.warnings]);
  return read.rejection === undefined ? { intent, warnings } : { ...read.rejection, warnings };
});

/** Its first ports, where it has more than are looked at. */
function withMostPorts(service: Service): Service {
  const { spec } = service;
  return spec.ports.length <= MOST_ITEMS
    ? service
    : { ...service, spec: { ...spec, ports: spec.ports.slice(0, MOST_ITEMS) } };
}

/** What it names is read where another Service asks for the address: `address-sharing.ts`. */
function warnOfIdleConsent({ addressSharing }: ClusterConfig, read: AnnotationReader): void {
  const written = (read.raw(OURS.shareAddressWith) ?? "").trim();
  if (written === "" || addressSharing === "consent") return;
  read.warnOfNoEffect(OURS.shareAddressWith, `addressSharing in the cloud config is ${addressSharing}, not consent`);
}

function parseMode(config: ClusterConfig, read: AnnotationReader): ServiceIntent["vmSets"] {
  const names = (read.get(PLACEMENT.mode) ?? []).filter((name) => name !== "");
  if (names.length === 0) return { kind: "primary" };
  if (config.sku === "standard") {
    read.warnOfNoEffect(PLACEMENT.mode, "Standard has one load balancer for all VM sets");
    return { kind: "primary" };
  }
  return names.some((name) => name.toLowerCase() === AUTO) ? { kind: "auto" } : { kind: "named", names };
}

function parseConfigurations({ loadBalancers }: ClusterConfig, read: AnnotationReader): readonly string[] | undefined {
  const names = (read.get(PLACEMENT.configurations) ?? []).filter((name) => name !== "");
  if (names.length === 0) return undefined;
  if (loadBalancers.length === 0) {
    const why = "the cloud config has no multipleStandardLoadBalancerConfigurations";
    read.warnOfNoEffect(PLACEMENT.configurations, why);
    return undefined;
  }
  const isKnown = (name: string): boolean => loadBalancers.some((one) => one.name.toLowerCase() === name.toLowerCase());
  const unknown = names.filter((name) => !isKnown(name)).map((name) => `"${name}"`);
  if (unknown.length > 0 && unknown.length < names.length) {
    read.warnOfNoEffect(PLACEMENT.configurations, `${unknown.join(", ")} is no load balancer of the cloud config`);
  }
  return names;
}

/** A node without an endpoint of such a Service drops its traffic: with several load balancers it is in no pool of it. */
function hasOwnPool(service: Service, { loadBalancers, clusterName }: ClusterConfig): boolean {
  if (loadBalancers.length === 0 || service.spec.externalTrafficPolicy !== "Local") return false;
  const families = ["IPv4", "IPv6"] as const;
  const clusterPools = families.map((family) => poolName(clusterName, family).toLowerCase());
  return !families.some((family) => clusterPools.includes(ownPoolName(serviceKey(service), family)));
}

function portsOf(service: Service): readonly number[] {
  const { ports, healthCheckNodePort } = service.spec;
  return [...ports.map((port) => port.port), ...(healthCheckNodePort === undefined ? [] : [healthCheckNodePort])];
}

type PortsIntent = Pick<
  ServiceIntent,
  "ports" | "highAvailabilityPorts" | "floatingIP" | "tcpReset" | "idleTimeoutMinutes" | "distribution"
>;

/** The ports of a Service: their protocols, node ports, probes, and whether one rule stands for all of them. */
function parsePorts(
  service: Service,
  config: ClusterConfig,
  scope: ServiceIntent["scope"],
  read: AnnotationReader,
): PortsIntent {
  const highAvailabilityPorts = parseHighAvailability(config, scope, read);
  const floatingIP = !read.isOn(RULES.disableFloatingIP);
  const probes = new ProbeParser(service, config, read);
  const ports = service.spec.ports.map((port) => {
    const rule = highAvailabilityPorts || !read.isOn(PORT_KEYS.noRule, port.port);
    return {
      protocol: port.protocol,
      port: port.port,
      nodePort: port.nodePort ?? 0,
      rule,
      probe: rule ? probes.probeOf(port, highAvailabilityPorts) : ({ kind: "none" } as const),
    };
  });
  const intent = { ports, highAvailabilityPorts, floatingIP };
  checkProtocols(service, config, scope, read);
  checkNodePorts(service, scope, intent, read);
  return {
    ...intent,
    tcpReset: !read.isOn(RULES.disableTcpReset),
    idleTimeoutMinutes: parseIdleTimeout(config, read),
    distribution:
      read.get(RULES.distribution) ?? (service.spec.sessionAffinity === "ClientIP" ? "SourceIP" : "Default"),
  };
}

/** Traffic that should pass through an appliance must not go around it: there the Service is refused. */
function parseFrontendOptions(
  { sku }: ClusterConfig,
  scope: ServiceIntent["scope"],
  read: AnnotationReader,
): ServiceIntent["frontendOptions"] {
  const tracking = read.get(RULES.connectionTracking);
  const gateway = read.get(RULES.gateway);
  if (tracking !== undefined && sku === "basic") {
    read.warnOfNoEffect(RULES.connectionTracking, "only Standard tracks connections");
  }
  const hasGateways = sku === "standard" && scope === "external";
  if (gateway !== undefined && gateway !== "" && !hasGateways) {
    const fix = "remove the annotation, or make the Service external on Standard";
    read.reject(
      "InvalidAnnotation",
      `${RULES.gateway.key}: "${gateway}": Azure has gateway load balancers before external frontends on Standard only: ${fix}`,
    );
  }
  return {
    ...(tracking !== undefined && sku === "standard" && { connectionTracking: tracking === "true" }),
    ...(gateway !== undefined && hasGateways && { gateway }),
  };
}

function parseHighAvailability(config: ClusterConfig, scope: ServiceIntent["scope"], read: AnnotationReader): boolean {
  if (!read.isOn(RULES.highAvailabilityPorts)) return false;
  if (scope === "internal" && config.sku === "standard") return true;
  read.warnOfNoEffect(RULES.highAvailabilityPorts, "only internal Services on Standard have high-availability ports");
  return false;
}

function parseIdleTimeout(config: ClusterConfig, read: AnnotationReader): number {
  const minutes = read.get(RULES.idleTimeout) ?? 4;
  if (config.sku === "basic" && minutes > BASIC_LONGEST_IDLE_MINUTES) {
    const most = `${BASIC_LONGEST_IDLE_MINUTES} minutes is the most that Basic has`;
    read.reject("InvalidAnnotation", `${RULES.idleTimeout.key}: "${minutes}" is too long: ${most}`);
  }
  return minutes;
}

function checkProtocols(
  service: Service,
  config: ClusterConfig,
  scope: ServiceIntent["scope"],
  read: AnnotationReader,
): void {
  if (scope === "internal" && config.sku === "standard") return;
  for (const port of service.spec.ports.filter((port) => port.protocol === "SCTP")) {
    read.reject("InvalidService", `port ${port.port} is SCTP, which only internal Services on Standard can have`);
  }
}

/** Without a floating IP the traffic arrives at node ports: they must be there. */
function checkNodePorts(
  service: Service,
  scope: ServiceIntent["scope"],
  intent: Pick<PortsIntent, "ports" | "highAvailabilityPorts" | "floatingIP">,
  read: AnnotationReader,
): void {
  const isTranslated = !intent.floatingIP || (scope === "internal" && familiesOf(service).includes("IPv6"));
  if (!isTranslated || intent.highAvailabilityPorts) return;
  for (const port of intent.ports.filter((port) => port.nodePort === 0)) {
    const why = intent.floatingIP ? "internal IPv6 has no floating IP" : `of ${RULES.disableFloatingIP.key}`;
    read.reject(
      "InvalidService",
      `port ${port.port} has no nodePort, which it needs because ${why}: ` +
        "set spec.allocateLoadBalancerNodePorts to true or give it a nodePort",
    );
  }
}
