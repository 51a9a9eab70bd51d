/**
 * Evaluates security groups for a new inbound flow: rules by ascending priority number, first match decides; every group
 * on the path (subnet, then NIC) must allow the flow. Pure.
 *
 *   prefix of a rule    | matches
 *   --------------------|----------------------------------------------------------------------
 *   *                   | everything
 *   address or CIDR     | addresses of its family in it
 *   VirtualNetwork      | the address space of the member's network
 *   AzureLoadBalancer   | 168.63.129.16, where health probes come from
 *   Internet            | what is neither of these two nor private
 *   other service tags  | nothing; the same holds for application security groups
 */
import { contains, parseAddress, parseBlock, type Block } from "../../shared/cidr.ts";
import { numberOf, objectsOf, propertiesOf, stringOf, type Json } from "../model/json.ts";
import { DEFAULT_RULES } from "../model/network/security-group/default-rules.ts";
import { valuesOf } from "../model/network/security-group/security-rule.ts";
import type { Flow } from "./forwarding.ts";

export const PROBE_SOURCE = "168.63.129.16";

export interface SecurityRule {
  readonly name: string;
  readonly priority: number;
  readonly allows: boolean;
  /** In lower case; `*` is any. */
  readonly protocol: string;
  readonly sources: readonly string[];
  readonly sourcePorts: readonly string[];
  readonly destinations: readonly string[];
  readonly destinationPorts: readonly string[];
}

export interface Access {
  readonly allowed: boolean;
  /** The rule that decided, for the flow log. */
  readonly rule: string;
}

/** Inbound rules of a stored security group, the default ones included, in order of evaluation. */
export function inboundRules(group: Json): readonly SecurityRule[] {
  return [...objectsOf(propertiesOf(group)["securityRules"]), ...DEFAULT_RULES]
    .filter((rule) => stringOf(propertiesOf(rule)["direction"])?.toLowerCase() === "inbound")
    .map(readRule)
    .sort((left, right) => left.priority - right.priority);
}

function readRule(rule: Json): SecurityRule {
  const properties = propertiesOf(rule);
  return {
    name: stringOf(rule["name"]) ?? "",
    priority: numberOf(properties["priority"]) ?? 0,
    allows: stringOf(properties["access"])?.toLowerCase() === "allow",
    protocol: stringOf(properties["protocol"])?.toLowerCase() ?? "*",
    sources: valuesOf(properties, "source", "AddressPrefix"),
    sourcePorts: valuesOf(properties, "source", "PortRange"),
    destinations: valuesOf(properties, "destination", "AddressPrefix"),
    destinationPorts: valuesOf(properties, "destination", "PortRange"),
  };
}

/** Evaluates all groups on the path; `network` is the address space of the member's virtual network. */
export function evaluateInbound(
  groups: readonly (readonly SecurityRule[])[],
  flow: Flow,
  network: readonly Block[],
): Access {
  let last: Access = { allowed: true, rule: "" };
  for (const rules of groups) {
    const decisive = rules.find((rule) => matches(rule, flow, network));
    last = { allowed: decisive?.allows ?? false, rule: decisive?.name ?? "" };
    if (!last.allowed) return last;
  }
  return last;
}

function matches(rule: SecurityRule, flow: Flow, network: readonly Block[]): boolean {
  return (
    (rule.protocol === "*" || rule.protocol === flow.transport.toLowerCase()) &&
    rule.destinationPorts.some((range) => isInRange(range, flow.destinationPort)) &&
    rule.sourcePorts.some((range) => isInRange(range, flow.sourcePort)) &&
    rule.sources.some((prefix) => isInPrefix(prefix, flow.sourceAddress, network)) &&
    rule.destinations.some((prefix) => isInPrefix(prefix, flow.destinationAddress, network))
  );
}

function isInRange(range: string, port: number): boolean {
  if (range === "*") return true;
  const [low, high = low] = range.split("-").map(Number);
  return low !== undefined && high !== undefined && port >= low && port <= high;
}

function isInPrefix(prefix: string, address: string, network: readonly Block[]): boolean {
  switch (prefix.toLowerCase()) {
    case "*":
      return true;
    case "virtualnetwork":
      return isInBlocks(network, address);
    case "azureloadbalancer":
      return address === PROBE_SOURCE;
    case "internet":
      return address !== PROBE_SOURCE && !isInBlocks(network, address) && !isInBlocks(PRIVATE, address);
    default: {
      const block = blockOf(prefix);
      return block !== undefined && isInBlocks([block], address);
    }
  }
}

/** A CIDR block, or the block of one address. */
export function blockOf(prefix: string): Block | undefined {
  return parseBlock(prefix.includes("/") ? prefix : `${prefix}/${prefix.includes(":") ? 128 : 32}`);
}

export function isInBlocks(blocks: readonly Block[], address: string): boolean {
  const parsed = parseAddress(address);
  return parsed !== undefined && blocks.some((block) => contains(block, parsed));
}

const PRIVATE = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "127.0.0.0/8"]
  .concat(["fc00::/7", "fe80::/10", "::1/128"])
  .flatMap((prefix) => parseBlock(prefix) ?? []);
