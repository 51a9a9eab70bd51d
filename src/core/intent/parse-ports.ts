/** The ports of a Service: their protocols, node ports, probes, and whether one rule stands for all of them. */
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { Service } from "../model/kubernetes.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import { PORT_KEYS, RULES } from "./annotations.ts";
import { familiesOf } from "./parse-addresses.ts";
import { ProbeParser } from "./parse-probes.ts";
import type { ServiceIntent } from "./service-intent.ts";

type PortsIntent = Pick<
  ServiceIntent,
  "ports" | "highAvailabilityPorts" | "floatingIP" | "tcpReset" | "idleTimeoutMinutes" | "distribution"
>;

const BASIC_LONGEST_IDLE_MINUTES = 30;

export function parsePorts(
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
    distribution: service.spec.sessionAffinity === "ClientIP" ? "SourceIP" : "Default",
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
