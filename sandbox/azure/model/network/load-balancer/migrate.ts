/** Migrates pools from NIC members to IP members with the same addresses. */
import type { Change, Resource } from "../../changes.ts";
import { keyOf } from "../../ids.ts";
import { objectOf, propertiesOf, stringOf, type Json } from "../../json.ts";
import { childId, childrenOf, referrers } from "../../lookups.ts";
import type { Referrer } from "../../references.ts";
import type { State } from "../../state.ts";
import { ownerKeyOf } from "./conflicts.ts";
import { NIC_SETTINGS, nicMemberName } from "./nic-members.ts";

export function migratedPools(state: State, loadBalancerKey: string, pools: readonly string[]): Change[] {
  const loadBalancer = state.resources.get(loadBalancerKey);
  if (!loadBalancer) return [];
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
    for (const key of new Set(owners)) changes.push({ kind: "leave", key, pool: poolKey });
    changes.push(childChange(state, loadBalancer, pool, members));
  }
  return changes;
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

/** A configuration's address and virtual network. */
function addressOf(state: State, configuration: string): Json {
  const reference = (state.outgoing.get(ownerKeyOf(configuration)) ?? []).find(
    (item) => item.kind === "address" && item.from === configuration,
  );
  const network = state.resources.get(reference?.to.split("/subnets/")[0] ?? "");
  return { ipAddress: reference?.address, ...(network && { virtualNetwork: { id: network.id } }) };
}
