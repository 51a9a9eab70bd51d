/**
 * NIC members of a pool, from the pool's side. NICs and scale sets reference the pool and thereby are members; a write of
 * the pool can only set their `adminState` and unknown fields.
 */
import { invalid } from "../../errors.ts";
import { derivedGuid } from "../../guid.ts";
import { keyOf, nameOf } from "../../ids.ts";
import { objectOf, objectsOf, propertiesOf, stringOf, without, type Json } from "../../json.ts";
import { childrenOf, referenceId, referrers } from "../../lookups.ts";
import type { Reference, Referrer } from "../../references.ts";
import type { State } from "../../state.ts";
import { settleAdminState, type PoolWrite } from "./pool-write.ts";

/** Field of a stored pool with the settings of its NIC members: key of the NIC configuration → properties. */
export const NIC_SETTINGS = "$nicMembers";

const READ_ONLY = new Set([
  "provisioningState",
  "inboundNatRulesPortMapping",
  "networkInterfaceIPConfiguration",
  "ipAddress",
]);

const names = new WeakMap<Referrer, string>();

/** The name of a NIC configuration as a pool member. */
export function nicMemberName(member: Referrer): string {
  let name = names.get(member);
  if (name === undefined) {
    name = derivedGuid(`${member.to}|${keyOf(member.from)}`);
    names.set(member, name);
  }
  return name;
}

/** A pool's current NIC members, by key of the NIC configuration. */
export type Present = ReadonlyMap<string, Referrer>;

export function presentMembers(state: State, poolKey: string): Present {
  return new Map(referrers(state, poolKey, "poolMember").map((member) => [keyOf(member.from), member]));
}

export interface SortedMembers {
  readonly ip: readonly Json[];
  /** Key of the NIC configuration → the member as written. */
  readonly nic: ReadonlyMap<string, Json>;
}

/**
 * Separates NIC members from IP members in a written pool. NIC members have a NIC reference, the name of a current NIC
 * member, or no address (some clients drop the NIC reference because it is read-only to them).
 */
export function sortMembers(poolId: string, items: readonly Json[], present: Present): SortedMembers {
  const keys = new Map([...present].map(([key, member]) => [nicMemberName(member), key]));
  const ip: Json[] = [];
  const nic = new Map<string, Json>();
  for (const item of items) {
    const key = configurationKey(item, present, keys);
    if (key === undefined) {
      ip.push(item);
      continue;
    }
    if (nic.has(key)) {
      throw invalid(
        "DuplicateIpConfigurationReferenceOnBackendAddressPool",
        `Backend address pool ${poolId} references IP configuration ${key} more than once.`,
      );
    }
    nic.set(key, item);
  }
  return { ip, nic };
}

function configurationKey(item: Json, present: Present, keys: ReadonlyMap<string, string>): string | undefined {
  const properties = propertiesOf(item);
  const written = properties["networkInterfaceIPConfiguration"];
  const key = stringOf(objectOf(written)["id"])?.toLowerCase();
  if (key !== undefined && present.has(key)) return key;
  const reference = referenceId(written, "networkInterfaceIPConfiguration");
  if (reference !== undefined) return keyOf(reference);
  const name = stringOf(item["name"]) ?? "";
  const addressed = properties["ipAddress"] ?? properties["loadBalancerFrontendIPConfiguration"];
  return keys.get(name) ?? (addressed === undefined ? name : undefined);
}

/** Refuses a pool PUT that adds, changes or removes NIC members: membership is written on the NIC. */
export function checkNicMembersUnchanged(poolId: string, written: ReadonlyMap<string, Json>, present: Present): void {
  const isThere = ([key, item]: [string, Json]): boolean => {
    const member = present.get(key);
    return member !== undefined && stringOf(item["name"]) === nicMemberName(member);
  };
  const same = written.size === present.size && [...written].every(isThere);
  if (same) return;
  throw invalid(
    "ModificationOfNICIpConfigBackendPoolNotSupported",
    `Modifying backend addresses of backend pool ${poolId} that hold NIC IP configurations is not supported. ` +
      "Update the network interface instead.",
  );
}

/** The settings of NIC members after this write: a pool PUT replaces them, an LB PUT merges. */
export function nicSettings(write: PoolWrite, written: ReadonlyMap<string, Json>, present: Present): Map<string, Json> {
  const before = objectOf(write.before?.[NIC_SETTINGS]);
  const survives = !write.alone && write.input.state.options.adminStateSurvives.nicMembers;
  const settings = new Map<string, Json>();
  for (const key of present.keys()) {
    const item = written.get(key);
    const old = objectOf(before[key]);
    const next = item ? without(propertiesOf(item), READ_ONLY) : { ...old };
    settleAdminState(write, next, propertiesOf(item ?? {}), survives ? old : {});
    if (Object.keys(next).length > 0) settings.set(key, next);
  }
  return settings;
}

/** The body without the settings of a NIC member that has left. */
export function releaseMember(body: Json, reference: Reference): Json {
  if (reference.kind !== "poolMember") return body;
  const pool = childrenOf(body, "backendAddressPools").get(nameOf(reference.to));
  const settings = objectOf(pool?.[NIC_SETTINGS]);
  const key = keyOf(reference.from);
  if (!pool || !(key in settings)) return body;
  const { [NIC_SETTINGS]: _, ...bare } = pool;
  const left = without(settings, new Set([key]));
  const next = Object.keys(left).length === 0 ? bare : { ...bare, [NIC_SETTINGS]: left };
  const pools = objectsOf(propertiesOf(body)["backendAddressPools"]).map((item) => (item === pool ? next : item));
  return { ...body, properties: { ...propertiesOf(body), backendAddressPools: pools } };
}
