/** Turning NIC members of pools into addresses: the NICs leave, their addresses stay. */
import type { Change, Resource } from "../../changes.ts";
import { keyOf } from "../../ids.ts";
import { isObject, objectOf, objectsOf, propertiesOf, stringOf, type Json } from "../../json.ts";
import { childId, childrenOf, referrers } from "../../lookups.ts";
import type { Referrer } from "../../references.ts";
import type { State } from "../../state.ts";
import { ownerKeyOf } from "./conflicts.ts";
import { NIC_SETTINGS, nicMemberName } from "./nic-members.ts";

export function migratedPools(state: State, loadBalancerKey: string, pools: readonly string[]): Change[] {
  const loadBalancer = state.resources.get(loadBalancerKey);
  if (!loadBalancer) return [];
  const changed = new Map<string, Resource>();
  const changes: Change[] = [];
  for (const name of pools) {
    const pool = childrenOf(loadBalancer.body, "backendAddressPools").get(name.toLowerCase());
    if (!pool) continue;
    const poolKey = keyOf(childId(loadBalancer.id, "backendAddressPools", name));
    const members = referrers(state, poolKey, "poolMember");
    if (members.length === 0) continue;
    const owners = [
      ...members.map((member) => ownerKeyOf(member.from)),
      ...referrers(state, poolKey, "scaleSetModel").map((user) => keyOf(user.from)),
    ];
    for (const key of new Set(owners)) leave(state, changed, key, poolKey);
    changes.push(childChange(state, loadBalancer, pool, members));
  }
  return [...[...changed.values()].map((resource): Change => ({ kind: "put", resource })), ...changes];
}

function leave(state: State, changed: Map<string, Resource>, key: string, poolKey: string): void {
  const resource = changed.get(key) ?? state.resources.get(key);
  if (!resource) return;
  const body = withoutPool(resource.body, poolKey) as Json;
  const revision = changed.has(key) ? resource.revision : resource.revision + 1;
  changed.set(key, { ...resource, body, revision });
}

/** A copy in which no list of pools names this one. */
function withoutPool(value: unknown, poolKey: string): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutPool(item, poolKey));
  if (!isObject(value)) return value;
  const copy: { [name: string]: unknown } = {};
  for (const name in value) {
    if (name !== "loadBalancerBackendAddressPools") {
      copy[name] = withoutPool(value[name], poolKey);
      continue;
    }
    const kept = objectsOf(value[name]).filter((item) => stringOf(item["id"])?.toLowerCase() !== poolKey);
    if (kept.length > 0) copy[name] = kept;
  }
  return copy;
}

function childChange(state: State, loadBalancer: Resource, pool: Json, members: readonly Referrer[]): Change {
  const { [NIC_SETTINGS]: settings, ...bare } = pool;
  const addresses = members.map((member) => {
    const key = keyOf(member.from);
    const place = addressOf(state, member.from);
    return { name: nicMemberName(member), properties: { ...place, ...objectOf(objectOf(settings)[key]) } };
  });
  const child = { ...bare, properties: { ...propertiesOf(pool), loadBalancerBackendAddresses: addresses } };
  const { state: provisioning, provisioned, lastOperation } = loadBalancer;
  return {
    kind: "child",
    key: keyOf(loadBalancer.id),
    collection: "backendAddressPools",
    name: stringOf(pool["name"]) ?? "",
    child,
    mark: { state: provisioning, provisioned, lastOperation },
  };
}

/** Where a configuration's address is: itself and its virtual network. */
function addressOf(state: State, configuration: string): Json {
  const reference = (state.outgoing.get(ownerKeyOf(configuration)) ?? []).find(
    (item) => item.kind === "address" && item.from === configuration,
  );
  const network = state.resources.get(reference?.to.split("/subnets/")[0] ?? "");
  return { ipAddress: reference?.address, ...(network && { virtualNetwork: { id: network.id } }) };
}
