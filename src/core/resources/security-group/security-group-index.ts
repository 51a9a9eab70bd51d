/**
 * A security group looked through once, so that what one Service owns in it is found without walking all of it.
 * The same object is indexed once: thousands of decisions ask about the same body.
 */
import { memo } from "../../util/memo.ts";
import type { SecurityGroup, SecurityRule } from "../../model/arm.ts";
import { canonicalAddress } from "../../util/cidr.ts";
import { destinationsOf, kindOf, portsOf, sourcesOf } from "./security-rules.ts";

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
