/**
 * Security rules of the controller: their names, their bodies, what a body that was read says, and where each is in a
 * group. Shared rules are named by content as the incumbent names them, so Services with the same ports and sources meet in one rule and differ in its
 * destinations only.
 *
 *   rule                          | name
 *   ------------------------------|--------------------------------------------------------------------------
 *   shared by content             | `k8s-azure-lb_allow_{family}_{md5 of protocol, sources, ports}`
 *   denies the rest               | `k8s-azure-lb_deny-all_{family}`
 *   a Service's own               | `k8s-azure-lb_{base}_allow_{family}_{first half of that md5}`, `…_deny-all_…`
 *   denies some ports             | `k8s-azure-lb_{base}_deny_{family}_{first half of that md5}`
 *   by releases up to 1.28        | `{base}-{PROTO}-{port}-{source}`, shared ones `shared-{PROTO}-{port}-{source}`
 *
 * Own names keep the incumbent's prefix, so that it cleans them up should a cluster be handed back to it.
 */
import type { Family, SecurityRule, SecurityRuleProperties, SecurityGroup } from "../../model/arm.ts";
import { canonicalAddress } from "../../util/cidr.ts";
import { md5 } from "../../util/md5.ts";
import { type AccessRule, isWideDenial } from "./fragment.ts";
import { memo } from "../../util/memo.ts";

const START = "k8s-azure-lb_";
const SHARED_NAME = /^k8s-azure-lb_(?:allow_ipv[46]_[\da-f]{32}|deny-all_ipv[46])$/;
const OWN_NAME = /^k8s-azure-lb_([^_]+)_(?:(?:allow|deny)_ipv[46]_[\da-f]{16}|deny-all_ipv[46])$/;
const LEGACY_NAME = /^([^-]+)-(?:tcp|udp|sctp)-\d+-.+$/;
const LEGACY_SHARED = "shared";

export function sharedRuleName(rule: AccessRule): string {
  if (rule.access === "Deny") return `${START}deny-all_${rule.family}`;
  return `${START}allow_${rule.family}_${contentHash(rule)}`;
}

export function ownRuleName(base: string, rule: AccessRule): string {
  if (isWideDenial(rule)) return `${START}${base}_deny-all_${rule.family}`;
  return `${START}${base}_${rule.access.toLowerCase()}_${rule.family}_${contentHash(rule).slice(0, 16)}`;
}

/** Strings are sorted as strings: `443` comes before `80`. */
function contentHash({ protocol, sources, ports }: AccessRule): string {
  return md5([protocol, [...sources].sort().join(","), portTexts(ports).join(",")].join("_"));
}

function portTexts(ports: readonly number[]): string[] {
  return ports.map(String).sort();
}

export type RuleKind =
  | { readonly kind: "shared" | "legacyShared" | "foreign" }
  | { readonly kind: "own" | "legacy"; readonly base: string };

/** The owner of a rule, by its name in lower case. */
export function kindOf(lowerName: string): RuleKind {
  if (SHARED_NAME.test(lowerName)) return { kind: "shared" };
  const base = OWN_NAME.exec(lowerName)?.[1];
  if (base !== undefined) return { kind: "own", base };
  const legacy = LEGACY_NAME.exec(lowerName)?.[1];
  if (legacy === undefined) return { kind: "foreign" };
  return legacy === LEGACY_SHARED ? { kind: "legacyShared" } : { kind: "legacy", base: legacy };
}

/** One of two fields holds them, the other is absent or empty. */
function either(one: string | undefined, many: readonly string[] | undefined): readonly string[] {
  return one === undefined || one === "" ? (many ?? []) : [one, ...(many ?? [])];
}

export function sourcesOf({ properties }: SecurityRule): readonly string[] {
  return either(properties.sourceAddressPrefix, properties.sourceAddressPrefixes);
}

export function destinationsOf({ properties }: SecurityRule): readonly string[] {
  return either(properties.destinationAddressPrefix, properties.destinationAddressPrefixes);
}

export function portsOf({ properties }: SecurityRule): readonly string[] {
  return either(properties.destinationPortRange, properties.destinationPortRanges);
}

/** What a rule that was read means, for these addresses. A range of ports, which only other clients write, is left out. */
export function accessRuleOf(rule: SecurityRule, family: Family, destinations: readonly string[]): AccessRule {
  const { access, protocol } = rule.properties;
  const ports = portsOf(rule).map(Number).filter(Number.isInteger);
  return {
    family,
    access: sameWord(access, "Deny") ? "Deny" : "Allow",
    protocol,
    sources: sourcesOf(rule),
    ports,
    destinations,
  };
}

/** Does a rule that was read mean what is wanted, destinations and priority aside? */
export function means(seen: SecurityRule, wanted: AccessRule): boolean {
  const { protocol, access, direction, sourcePortRange } = seen.properties;
  return (
    sameWord(protocol, wanted.protocol) &&
    sameWord(access, wanted.access) &&
    sameWord(direction, "Inbound") &&
    (sourcePortRange ?? "*") === "*" &&
    sameSet(sourcesOf(seen), wanted.sources) &&
    sameSet(portsOf(seen), wanted.ports.length === 0 ? ["*"] : portTexts(wanted.ports))
  );
}

function sameWord(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function sameSet(one: readonly string[], other: readonly string[]): boolean {
  const normal = (texts: readonly string[]): string => [...new Set(texts.map(canonicalAddress))].sort().join();
  return normal(one).toLowerCase() === normal(other).toLowerCase();
}

interface IndexedRule {
  readonly rule: SecurityRule;
  /** By canonical spelling, as they are written. */
  readonly destinations: ReadonlyMap<string, string>;
}

/** What Azure limits, over all rules of the group. */
export interface Usage {
  readonly rules: number;
  readonly sources: number;
  readonly destinations: number;
  readonly ports: number;
}

/** Names of rules are in lower case throughout. */
export interface SecurityGroupIndex {
  /** Shared rules and Services' own. */
  readonly managed: ReadonlyMap<string, IndexedRule>;
  /** Address → managed rules that hold it. */
  readonly holders: ReadonlyMap<string, readonly string[]>;
  /** Port → managed rules that open it. */
  readonly openers: ReadonlyMap<string, readonly string[]>;
  /** Base → the Service's own rules. */
  readonly own: ReadonlyMap<string, readonly string[]>;
  /** Base → rules of old for that Service alone. */
  readonly legacy: ReadonlyMap<string, readonly string[]>;
  /** Address → shared rules of old that hold it. */
  readonly legacyShared: ReadonlyMap<string, readonly string[]>;
  readonly priorities: ReadonlySet<number>;
  readonly usage: Usage;
}

/**
 * A security group looked through once, so that what one Service owns in it is found without walking all of it. The same
 * object is indexed once: thousands of decisions ask about the same body.
 */
export const securityGroupIndex: (group: SecurityGroup) => SecurityGroupIndex = memo((group) =>
  lookThrough(group.properties.securityRules ?? []),
);

function lookThrough(rules: readonly SecurityRule[]): SecurityGroupIndex {
  const managed = new Map<string, IndexedRule>();
  const [holders, openers, own, legacy, legacyShared] = [lists(), lists(), lists(), lists(), lists()];
  for (const rule of rules) {
    const name = rule.name.toLowerCase();
    const kind = kindOf(name);
    if (kind.kind === "legacy") append(legacy, kind.base, name);
    if (kind.kind === "legacyShared") {
      for (const address of destinationsOf(rule)) append(legacyShared, canonicalAddress(address), name);
    }
    if (kind.kind === "own") append(own, kind.base, name);
    if (kind.kind !== "own" && kind.kind !== "shared") continue;
    const destinations = new Map(destinationsOf(rule).map((address) => [canonicalAddress(address), address]));
    managed.set(name, { rule, destinations });
    for (const address of destinations.keys()) append(holders, address, name);
    for (const port of portsOf(rule)) append(openers, port, name);
  }
  const priorities = new Set(rules.map((rule) => rule.properties.priority));
  return { managed, holders, openers, own, legacy, legacyShared, priorities, usage: usageOf(rules) };
}

function lists(): Map<string, string[]> {
  return new Map();
}

function append(map: Map<string, string[]>, key: string, value: string): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

export function usageOf(rules: readonly SecurityRule[]): Usage {
  const sum = (count: (rule: SecurityRule) => number): number => rules.reduce((total, rule) => total + count(rule), 0);
  return {
    rules: rules.length,
    sources: sum((rule) => sourcesOf(rule).length),
    destinations: sum((rule) => destinationsOf(rule).length),
    ports: sum((rule) => portsOf(rule).length),
  };
}

export interface RuleBody {
  readonly name: string;
  readonly priority: number;
  readonly destinations: readonly string[];
}

export function newRule(rule: AccessRule, { name, priority, destinations }: RuleBody): SecurityRule {
  return {
    name,
    properties: { ...meaningOf(rule), ...destinationFields(destinations), priority },
  };
}

/** What means something else is put right; what we don't know of stays. */
export function rewrittenRule(seen: SecurityRule, rule: AccessRule, destinations: readonly string[]): SecurityRule {
  const {
    sourceAddressPrefix: _source,
    sourceAddressPrefixes: _sources,
    destinationPortRange: _port,
    destinationPortRanges: _ports,
    ...rest
  } = seen.properties;
  return withDestinations({ ...seen, properties: { ...rest, ...meaningOf(rule) } }, destinations);
}

export function withDestinations(seen: SecurityRule, destinations: readonly string[]): SecurityRule {
  const { destinationAddressPrefix: _one, destinationAddressPrefixes: _many, ...rest } = seen.properties;
  return { ...seen, properties: { ...rest, ...destinationFields(destinations) } };
}

type Meaning = Pick<SecurityRuleProperties, "protocol" | "access" | "direction"> & Partial<SecurityRuleProperties>;

function meaningOf(rule: AccessRule): Meaning {
  const { protocol, access, sources, ports } = rule;
  const [source = "*"] = sources;
  return {
    protocol,
    access,
    direction: "Inbound",
    sourcePortRange: "*",
    ...(sources.length > 1 ? { sourceAddressPrefixes: [...sources].sort() } : { sourceAddressPrefix: source }),
    ...(ports.length === 0 ? { destinationPortRange: "*" } : { destinationPortRanges: portTexts(ports) }),
  };
}

function destinationFields(destinations: readonly string[]): Partial<SecurityRuleProperties> {
  const sorted = [...destinations].sort();
  const [only] = sorted;
  return sorted.length === 1 && only !== undefined
    ? { destinationAddressPrefix: only }
    : { destinationAddressPrefixes: sorted };
}
