/**
 * What a network security group says of one inbound packet: the first rule by priority that matches it, Azure's default
 * rules last. A rule whose source or destination only Azure can resolve (a service tag, an application security group)
 * leaves the answer open where it would come first.
 */
import type { SecurityGroup, SecurityRule } from "../model/arm.ts";
import { destinationsOf, portsOf, sourcesOf } from "../resources/security-group/security-rules.ts";
import { type Address, type Cidr, contains, mayBePublic, parseAddress, parseCidr } from "../util/cidr.ts";

export interface Packet {
  readonly source: Address;
  /** As the security group sees it: the frontend's with a floating IP, else the member's. */
  readonly destination: Address;
  readonly port: number;
  readonly protocol: "TCP" | "UDP";
}

export interface SecurityVerdict {
  readonly access: "Allow" | "Deny" | "unknown";
  readonly rule: string;
  readonly priority: number;
}

type Match = boolean | "unknown";

/** `network`: blocks that are known to be of the virtual network; private addresses count as its own too. */
export function securityVerdict(
  group: SecurityGroup | undefined,
  packet: Packet,
  network: readonly Cidr[] = [],
): SecurityVerdict {
  for (const rule of [...inboundRules(group), ...DEFAULT_RULES]) {
    const match = matches(rule, packet, network);
    if (match === false) continue;
    const isAllowed = rule.properties.access.toLowerCase() === "allow";
    const access = match === "unknown" ? "unknown" : isAllowed ? "Allow" : "Deny";
    return { access, rule: rule.name, priority: rule.properties.priority };
  }
  throw new Error("the last default rule matches every packet");
}

/** In the order in which Azure asks them, without its default rules. */
export function inboundRules(group: SecurityGroup | undefined): SecurityRule[] {
  return (group?.properties.securityRules ?? [])
    .filter(({ properties }) => properties.direction.toLowerCase() === "inbound")
    .sort((one, other) => one.properties.priority - other.properties.priority);
}

/** Whether the rule speaks of packets to the address, as far as can be told here. */
export function speaksOf(rule: SecurityRule, destination: Address): boolean {
  return anyOf(endsOf(destinationsOf(rule), rule, "destination"), destination, []) !== false;
}

const DEFAULT_RULES: readonly SecurityRule[] = [
  defaultRule("AllowVnetInBound", 65_000, "Allow", "VirtualNetwork", "VirtualNetwork"),
  defaultRule("AllowAzureLoadBalancerInBound", 65_001, "Allow", "AzureLoadBalancer", "*"),
  defaultRule("DenyAllInBound", 65_500, "Deny", "*", "*"),
];

function defaultRule(name: string, priority: number, access: string, from: string, to: string): SecurityRule {
  const ends = { sourceAddressPrefix: from, destinationAddressPrefix: to, destinationPortRange: "*" };
  return { name, properties: { ...ends, priority, access, protocol: "*", direction: "Inbound" } };
}

function matches(rule: SecurityRule, packet: Packet, network: readonly Cidr[]): Match {
  const { protocol } = rule.properties;
  if (protocol !== "*" && protocol.toUpperCase() !== packet.protocol) return false;
  if (!portsOf(rule).some((range) => coversPort(range, packet.port))) return false;
  const source = anyOf(endsOf(sourcesOf(rule), rule, "source"), packet.source, network);
  const destination = anyOf(endsOf(destinationsOf(rule), rule, "destination"), packet.destination, network);
  if (source === false || destination === false) return false;
  return source === "unknown" || destination === "unknown" ? "unknown" : true;
}

/** Application security groups stand in fields of their own, in the place of prefixes. */
function endsOf(prefixes: readonly string[], { properties }: SecurityRule, end: "source" | "destination"): string[] {
  const groups = properties[`${end}ApplicationSecurityGroups`];
  return Array.isArray(groups) && groups.length > 0 ? [...prefixes, "ApplicationSecurityGroup"] : [...prefixes];
}

function coversPort(range: string, port: number): boolean {
  if (range === "*") return true;
  const [from = "", to = from] = range.split("-");
  return Number(from) <= port && port <= Number(to);
}

function anyOf(prefixes: readonly string[], address: Address, network: readonly Cidr[]): Match {
  const answers = prefixes.map((prefix) => covers(prefix, address, network));
  if (answers.includes(true)) return true;
  return answers.includes("unknown") ? "unknown" : false;
}

function covers(prefix: string, address: Address, network: readonly Cidr[]): Match {
  const bare = parseAddress(prefix);
  if (bare !== undefined) return bare.family === address.family && bare.value === address.value;
  const block = parseCidr(prefix);
  if (!("problem" in block)) return contains(block, address);
  switch (prefix.toLowerCase()) {
    case "*":
    case "any":
      return true;
    case "virtualnetwork":
      return isInNetwork(address, network);
    case "internet":
      return !isInNetwork(address, network);
    case "azureloadbalancer":
      return address.family === "IPv4" && address.value === AZURE_WIRE;
    default:
      return "unknown";
  }
}

/** 168.63.129.16, the source of health probes. */
const AZURE_WIRE = parseAddress("168.63.129.16")?.value;

/** Private addresses that are not of the virtual network are of networks that are connected to it. */
export function isInNetwork(address: Address, network: readonly Cidr[]): boolean {
  const isProbe = address.family === "IPv4" && address.value === AZURE_WIRE;
  return !isProbe && (!mayBePublic(address) || network.some((block) => contains(block, address)));
}
