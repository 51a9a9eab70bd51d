/**
 * The sources that may reach a Service become rules, in the order in which the incumbent hands out priorities: by
 * protocol, by family, service tags before ranges, denials last. A plain internal Service has none: the VNet may reach
 * it anyway.
 */
import type { Family } from "../../model/arm.ts";
import { familyOf } from "../../util/cidr.ts";
import type { Protocol } from "../../model/kubernetes.ts";
import type { ServiceIntent } from "../../intent/service-intent.ts";
import type { AccessRule, ServiceAddresses } from "./fragment.ts";

const FAMILIES: readonly Family[] = ["IPv4", "IPv6"];
const PROTOCOLS: readonly (readonly [Protocol, string])[] = [
  ["TCP", "Tcp"],
  ["UDP", "Udp"],
  ["SCTP", "*"],
];
const INTERNET = "Internet";

/**
 * Without a floating IP a packet arrives at the node's own address, and that is what the security group sees. Internal
 * IPv6 never has one; the rule for all ports has one whatever the annotation says.
 */
function landsOnNodes(
  intent: Pick<ServiceIntent, "scope" | "floatingIP" | "highAvailabilityPorts">,
  family: Family,
): boolean {
  if (intent.scope === "internal" && family === "IPv6") return true;
  return !intent.floatingIP && !intent.highAvailabilityPorts;
}

/** Does it open anything at the nodes' own addresses? */
export function opensOnNodes(intent: ServiceIntent): boolean {
  const { unmanaged, denyOthers } = intent.access;
  return intent.families.some(
    (family) => !unmanaged && landsOnNodes(intent, family) && (denyOthers || sourcesFor(intent, family).length > 0),
  );
}

export function desiredAccessRules(
  intent: ServiceIntent,
  addresses: Pick<ServiceAddresses, "current" | "nodes">,
): readonly AccessRule[] {
  if (intent.access.unmanaged) return [];
  const targets = FAMILIES.map((family) => ({ family, destinations: destinationsFor(intent, addresses, family) }));
  const reached = targets.filter(({ destinations }) => destinations.length > 0);
  const allowed = PROTOCOLS.flatMap(([kubernetes, protocol]) =>
    reached.flatMap(({ family, destinations }) => {
      const ports = portsFor(intent, kubernetes, family);
      if (ports.length === 0) return [];
      const rule = { family, access: "Allow", protocol, ports, destinations } as const;
      return sourcesFor(intent, family).map((sources): AccessRule => ({ ...rule, sources }));
    }),
  );
  if (!intent.access.denyOthers) return allowed;
  const everything = { access: "Deny", protocol: "*", sources: ["*"], ports: [] } as const;
  return [...allowed, ...reached.map((target) => ({ ...everything, ...target }))];
}

function destinationsFor(
  intent: ServiceIntent,
  { current, nodes }: Pick<ServiceAddresses, "current" | "nodes">,
  family: Family,
): readonly string[] {
  const reached = landsOnNodes(intent, family) ? nodes[family] : current[family];
  // A family without an address of its own is not reached through its nodes either.
  const own = current[family].length === 0 ? [] : reached;
  return [...own, ...intent.additionalPublicIPs.filter((address) => familyOf(address) === family)];
}

/** The rule for all ports translates none of them. */
function portsFor(intent: ServiceIntent, protocol: Protocol, family: Family): readonly number[] {
  const isTranslated = landsOnNodes(intent, family) && !intent.highAvailabilityPorts;
  const ports = intent.ports.filter((port) => port.protocol === protocol);
  return [...new Set(ports.map((port) => (isTranslated ? port.nodePort : port.port)))];
}

/** One rule per service tag, one for all ranges. */
function sourcesFor({ access }: ServiceIntent, family: Family): readonly (readonly string[])[] {
  const opensAll = [...access.ranges.IPv4, ...access.ranges.IPv6].some((range) => range.endsWith("/0"));
  const tags = access.allowFromInternet && !opensAll ? [...access.serviceTags, INTERNET] : access.serviceTags;
  const ranges = access.ranges[family];
  return [...tags.map((tag) => [tag]), ...(ranges.length > 0 ? [ranges] : [])];
}
