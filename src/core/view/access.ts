/**
 * Which inbound rules of the security group speak of an address, for people who ask who may reach it. Which one decides
 * about a packet is `reach/security-verdict.ts`'s.
 */
import type { SecurityGroup } from "../model/arm.ts";
import { inboundRules, speaksOf } from "../reach/security-verdict.ts";
import { kindOf, portsOf, sourcesOf } from "../resources/security-group/security-rules.ts";
import { parseAddress } from "../util/cidr.ts";

export interface AccessView {
  readonly rule: string;
  readonly priority: number;
  readonly access: "Allow" | "Deny";
  readonly protocol: string;
  readonly sources: readonly string[];
  readonly ports: readonly string[];
  /** The controller's, or foreign: not ours, untouched. */
  readonly isForeign: boolean;
}

/** Inbound rules that may speak of packets to one of the addresses, in the order in which Azure asks them. */
export function accessTo(group: SecurityGroup | undefined, addresses: readonly string[]): AccessView[] {
  const parsed = addresses.flatMap((address) => parseAddress(address) ?? []);
  return inboundRules(group)
    .filter((rule) => parsed.some((address) => speaksOf(rule, address)))
    .map((rule) => ({
      rule: rule.name,
      priority: rule.properties.priority,
      access: rule.properties.access.toLowerCase() === "allow" ? "Allow" : "Deny",
      protocol: rule.properties.protocol,
      sources: sourcesOf(rule),
      ports: portsOf(rule),
      isForeign: kindOf(rule.name.toLowerCase()).kind === "foreign",
    }));
}
