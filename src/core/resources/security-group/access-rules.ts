/**
 * The sources that may reach a Service become rules, in the order in which the incumbent hands out priorities: by
 * protocol, by family, service tags before ranges, denials last. A plain internal Service has none: the VNet may reach
 * it anyway.
 *
 *   address           | named by        | a denial covers
 *   ------------------|-----------------|----------------------------------------------------------
 *   of a frontend     | content         | all ports; the Service's, if another Service has the address
 *   additional        | the Service     | the same
 *   of a node         | the Service     | the Service's node ports: the others are not its own
 *   a range of nodes  | the Service     | the same (`azure-allowed-destination-ip-ranges`)
 */
import type { Family } from "../../model/arm.ts";
import { familyOf } from "../../util/cidr.ts";
import type { Protocol } from "../../model/kubernetes.ts";
import { landsOnNodes } from "../../intent/parse-destinations.ts";
import type { ServiceIntent } from "../../intent/service-intent.ts";
import type { AccessRule, ServiceAddresses } from "./fragment.ts";

const FAMILIES: readonly Family[] = ["IPv4", "IPv6"];
const PROTOCOLS: readonly (readonly [Protocol, string])[] = [
  ["TCP", "Tcp"],
  ["UDP", "Udp"],
  ["SCTP", "*"],
];
const INTERNET = "Internet";

/** Does it open anything at the nodes' own addresses? */
export function opensOnNodes(intent: ServiceIntent): boolean {
  const { unmanaged, denyOthers } = intent.access;
  return intent.families.some(
    (family) => !unmanaged && landsOnNodes(intent, family) && (denyOthers || sourcesFor(intent, family).length > 0),
  );
}

export interface AccessAddresses extends Pick<ServiceAddresses, "current" | "nodes"> {
  /** Families whose address is not known yet: the Service may have opened the nodes for them already. */
  readonly pending?: readonly Family[];
  /** Does a denial cover the Service's own ports only, at this address? */
  readonly isNarrow: (address: string, kind: Target["kind"]) => boolean;
}

/** As the table says; `isShared`: another Service has the address, too. */
export function narrowWhere(isShared: (address: string) => boolean): AccessAddresses["isNarrow"] {
  return (address, kind) => kind === "node" || isShared(address);
}

export function desiredAccessRules(intent: ServiceIntent, addresses: AccessAddresses): readonly AccessRule[] {
  if (intent.access.unmanaged) return [];
  const reached = FAMILIES.flatMap((family) => targetsOf(intent, addresses, family)).filter(
    ({ destinations }) => destinations.length > 0,
  );
  const allowed = PROTOCOLS.flatMap(([kubernetes, protocol]) =>
    reached.flatMap((target) => {
      const ports = portsFor(intent, kubernetes, target.family);
      if (ports.length === 0) return [];
      const rule = { ...ruleFor(target), access: "Allow", protocol, ports } as const;
      return sourcesFor(intent, target.family).map((sources): AccessRule => ({ ...rule, sources }));
    }),
  );
  if (!intent.access.denyOthers) return allowed;
  return [...allowed, ...reached.flatMap((target) => denialsOf(intent, target, addresses))];
}

interface Target {
  readonly family: Family;
  readonly destinations: readonly string[];
  readonly kind: "frontend" | "node" | "additional";
}

function targetsOf(intent: ServiceIntent, addresses: AccessAddresses, family: Family): readonly Target[] {
  const { current, nodes, pending = [] } = addresses;
  const isOnNodes = landsOnNodes(intent, family);
  // a family without an address of its own is not reached through the nodes either
  const hasAddress = current[family].length > 0 || pending.includes(family);
  const named = intent.access.destinations[family];
  const onNodes = named.length > 0 ? named : nodes[family];
  const reached = !isOnNodes ? current[family] : hasAddress ? onNodes : [];
  const additional = intent.additionalPublicIPs.filter((address) => familyOf(address) === family);
  return [
    { family, destinations: reached, kind: isOnNodes ? "node" : "frontend" },
    { family, destinations: additional, kind: "additional" },
  ];
}

function ruleFor({ family, destinations, kind }: Target): Pick<AccessRule, "family" | "destinations" | "own"> {
  return { family, destinations, ...(kind !== "frontend" && { own: true }) };
}

function denialsOf(intent: ServiceIntent, target: Target, { isNarrow }: AccessAddresses): readonly AccessRule[] {
  const narrow = target.destinations.filter((address) => isNarrow(address, target.kind));
  const wide = target.destinations.filter((address) => !narrow.includes(address));
  const denial = { ...ruleFor(target), access: "Deny", sources: ["*"] } as const;
  const all: AccessRule = { ...denial, protocol: "*", ports: [], destinations: wide };
  const some = PROTOCOLS.flatMap(([kubernetes, protocol]): AccessRule[] => {
    const ports = portsFor(intent, kubernetes, target.family);
    return ports.length === 0 ? [] : [{ ...denial, protocol, ports, destinations: narrow, own: true }];
  });
  return [...(wide.length > 0 ? [all] : []), ...(narrow.length > 0 ? some : [])];
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
