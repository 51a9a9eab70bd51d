/**
 * Whether all that a write of the security group changes is which nodes its rules name. Where traffic arrives at the nodes
 * themselves, rules follow them as pools do, whatever the drift policy: a node that came must be reached, and one that
 * went is not the Service's any more. Everything else that differs may be an edit of another client.
 */
import type { SecurityGroup, SecurityRule } from "../../model/arm.ts";
import { canonicalAddress, mayBePublic, parseAddress } from "../../util/cidr.ts";
import type { ServiceAddresses } from "./fragment.ts";
import { destinationsOf, portsOf, securityGroupIndex, sourcesOf } from "./security-rules.ts";

/** `after`: the group with what the Service wants now, at these addresses. */
export function followsNodesOnly(before: SecurityGroup, after: SecurityGroup, addresses: ServiceAddresses): boolean {
  const [seen, wanted] = [byName(before), byName(after)];
  const names = [...new Set([...seen.keys(), ...wanted.keys()])];
  return names.every((name) => {
    const [old, now] = [seen.get(name), wanted.get(name)];
    if (old === now) return true;
    const isManaged = [before, after].some((group) => securityGroupIndex(group).managed.has(name));
    if (!isManaged || (old && now && without(old) !== without(now))) return false;
    return changedAddresses(old, now).every((address) => isOfNode(address, addresses));
  });
}

function byName(group: SecurityGroup): ReadonlyMap<string, SecurityRule> {
  return new Map((group.properties.securityRules ?? []).map((rule) => [rule.name.toLowerCase(), rule]));
}

/** All that it says but for its destinations: Azure shows empty lists that no write has. */
function without(rule: SecurityRule): string {
  const { protocol, access, direction, priority } = rule.properties;
  return JSON.stringify([
    protocol,
    access,
    direction,
    priority,
    [...sourcesOf(rule)].sort(),
    [...portsOf(rule)].sort(),
  ]);
}

function changedAddresses(old: SecurityRule | undefined, now: SecurityRule | undefined): readonly string[] {
  const had = addressesOf(old);
  const has = addressesOf(now);
  return [...[...had].filter((address) => !has.has(address)), ...[...has].filter((address) => !had.has(address))];
}

function addressesOf(rule: SecurityRule | undefined): ReadonlySet<string> {
  return new Set((rule === undefined ? [] : destinationsOf(rule)).map(canonicalAddress));
}

/** One that went is known by no Node: it was private, and is not where a frontend of the Service is. */
function isOfNode(address: string, { current, nodes }: ServiceAddresses): boolean {
  const listed = (lists: ServiceAddresses["nodes"]): boolean =>
    [...lists.IPv4, ...lists.IPv6].some((one) => canonicalAddress(one) === address);
  if (listed(nodes)) return true;
  const parsed = parseAddress(address);
  return !listed(current) && parsed !== undefined && !mayBePublic(parsed);
}
