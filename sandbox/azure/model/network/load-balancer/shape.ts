/** Queries on stored load balancers: members of a pool, rules of a pool, public or internal. */
import type { Resource } from "../../changes.ts";
import { keyOf } from "../../ids.ts";
import { objectOf, objectsOf, propertiesOf, stringOf, type Json } from "../../json.ts";
import { childId } from "../../lookups.ts";
import type { State } from "../../state.ts";
import type { Collection } from "./draft.ts";

/** A stored collection, which always is an array of objects. */
export function stored(body: Json, collection: Collection): readonly Json[] {
  return (propertiesOf(body)[collection] ?? []) as readonly Json[];
}

export function nameIn(child: Json): string {
  return stringOf(child["name"]) ?? "";
}

/** The id behind a stored reference. */
export function idIn(child: Json, field: string): string | undefined {
  return stringOf(objectOf(propertiesOf(child)[field])["id"]);
}

/** The ids behind a stored list of references. */
export function idsIn(child: Json, field: string): readonly string[] {
  return objectsOf(propertiesOf(child)[field]).map((item) => stringOf(item["id"]) ?? "");
}

export function ipMembersOf(pool: Json): readonly Json[] {
  return (propertiesOf(pool)["loadBalancerBackendAddresses"] ?? []) as readonly Json[];
}

export function isInternal(body: Json): boolean {
  return stored(body, "frontendIPConfigurations").some((frontend) => propertiesOf(frontend)["subnet"] !== undefined);
}

/** How many members a pool has, of either kind. */
export function poolSize(state: State, loadBalancerId: string, pool: Json): number {
  const ip = ipMembersOf(pool).length;
  return ip > 0 ? ip : nicMemberCount(state, keyOf(childId(loadBalancerId, "backendAddressPools", nameIn(pool))));
}

export function nicMemberCount(state: State, poolKey: string): number {
  let count = 0;
  for (const reference of state.incoming.get(poolKey)?.values() ?? []) if (reference.kind === "poolMember") count++;
  return count;
}

/** Pool id → the load-balancing rules that serve it. */
export function rulesByPool(body: Json): Map<string, Json[]> {
  const byPool = new Map<string, Json[]>();
  for (const rule of stored(body, "loadBalancingRules")) {
    for (const pool of idsIn(rule, "backendAddressPools")) push(byPool, pool, rule);
  }
  return byPool;
}

export function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const values = map.get(key);
  if (values) values.push(value);
  else map.set(key, [value]);
}

/** Backend port and protocol as one text, to find rules that use the same port. */
export function backendPortOf(rule: Json): string {
  const { backendPort, protocol } = propertiesOf(rule);
  return `${String(backendPort)}/${String(protocol).toLowerCase()}`;
}

export function isFloating(rule: Json): boolean {
  return propertiesOf(rule)["enableFloatingIP"] === true;
}

/** Whether a change of this load balancer must be programmed into the network. */
export function needsProgramming(state: State, before: Resource | undefined, id: string, body: Json): boolean {
  const sku = objectOf(body["sku"]);
  if (sku["name"] === "Gateway" || sku["tier"] === "Global" || isInternal(body)) return true;
  if (hasIpMembers(body) || (before && (isInternal(before.body) || hasIpMembers(before.body)))) return true;
  if (before && rulesByPool(before.body).size > 0) return true;
  const served = rulesByPool(body);
  return stored(body, "backendAddressPools").some(
    (pool) => served.has(childId(id, "backendAddressPools", nameIn(pool))) && poolSize(state, id, pool) > 0,
  );
}

function hasIpMembers(body: Json): boolean {
  return stored(body, "backendAddressPools").some((pool) => ipMembersOf(pool).length > 0);
}
