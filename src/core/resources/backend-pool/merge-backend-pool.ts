/**
 * Puts the nodes into one pool of addresses.
 *
 *   - An entry is ours by the rule of `own-entries.ts`; anybody else's stays as it is, and is reported.
 *   - Ours that no node stands for goes, except the last of them: a pool is never emptied because we know no nodes.
 *   - A node whose address is in the pool already is not added again, whatever that entry is called.
 *   - What is right stays the object that was read, unknown fields included; new entries come last, by name.
 */
import type { BackendAddress, BackendPool, Reference } from "../../model/arm.ts";
import { correctAdminState } from "../../admin-state/desired-admin-state.ts";
import { canonicalAddress } from "../../util/cidr.ts";
import type { Merged } from "../../steps.ts";
import type { Warning } from "../../service/service-intent.ts";
import type { MemberIntent, BackendPoolFragment } from "./fragment.ts";
import { isOwnEntry } from "./own-entries.ts";

const judged = new WeakMap<BackendPool, WeakMap<BackendPoolFragment, Merged<BackendPool>>>();

/** Remembers its answer for the pair, so that a thousand Services of one pool ask for the price of one. */
export function mergeBackendPool(seen: BackendPool, fragment: BackendPoolFragment): Merged<BackendPool> {
  const answers = judged.get(seen) ?? new WeakMap<BackendPoolFragment, Merged<BackendPool>>();
  judged.set(seen, answers);
  const known = answers.get(fragment);
  if (known !== undefined) return known;
  const merged = merge(seen, fragment);
  answers.set(fragment, merged);
  return merged;
}

function merge(seen: BackendPool, fragment: BackendPoolFragment): Merged<BackendPool> {
  const entries = seen.properties.loadBalancerBackendAddresses ?? [];
  if (holdsInterfaces(seen)) return refuseMixing(seen);
  const wanted = new Map(fragment.members.map((member) => [member.name.toLowerCase(), member]));
  const byAddress = new Map(fragment.members.map((member) => [canonicalAddress(member.ipAddress), member]));
  const missing = new Set(fragment.members);
  const kept: BackendAddress[] = [];
  const dropped: BackendAddress[] = [];
  for (const entry of entries) {
    const member =
      wanted.get(entry.name.toLowerCase()) ?? byAddress.get(canonicalAddress(entry.properties.ipAddress ?? ""));
    if (member !== undefined && missing.delete(member)) kept.push(corrected(entry, member));
    else if (isOwnEntry(entry, fragment.own)) dropped.push(entry);
    else kept.push(entry);
  }
  const foreign = kept.filter((entry) => !isOwnEntry(entry, fragment.own));
  const warnings = warningsAbout(seen, foreign);
  if (fragment.members.length === 0) return { outcome: { kind: "unchanged" }, refused: [], warnings };
  const added = [...missing].map((member) => entryOf(member, seen, fragment));
  const isRight = dropped.length === 0 && added.length === 0 && kept.every((entry, at) => entry === entries[at]);
  if (isRight) return { outcome: { kind: "unchanged" }, refused: [], warnings };
  return { outcome: { kind: "put", body: bodyOf(seen, fragment, [...kept, ...added]) }, refused: [], warnings };
}

export function corrected(entry: BackendAddress, member: MemberIntent): BackendAddress {
  const isSameAddress = canonicalAddress(entry.properties.ipAddress ?? "") === canonicalAddress(member.ipAddress);
  const addressed = isSameAddress
    ? entry
    : { ...entry, properties: { ...entry.properties, ipAddress: member.ipAddress } };
  return correctAdminState(addressed, member.adminState);
}

type Network = Pick<BackendPoolFragment, "virtualNetworkId">;

/** The VNet stands either on the pool or on each entry; new entries follow the pool's habit. */
export function entryOf(member: MemberIntent, seen: BackendPool, fragment: Network): BackendAddress {
  const entry: BackendAddress = {
    name: member.name,
    properties: {
      ipAddress: member.ipAddress,
      ...(hasOwnNetworks(seen) && { virtualNetwork: networkOf(fragment) }),
    },
  };
  return correctAdminState(entry, member.adminState);
}

export function bodyOf(seen: BackendPool, fragment: Network, entries: readonly BackendAddress[]): BackendPool {
  const { virtualNetwork = hasOwnNetworks(seen) ? undefined : networkOf(fragment) } = seen.properties;
  return {
    ...seen,
    properties: {
      ...seen.properties,
      ...(virtualNetwork && { virtualNetwork }),
      loadBalancerBackendAddresses: entries,
    },
  };
}

function networkOf(fragment: Network): Reference {
  return { id: fragment.virtualNetworkId };
}

function hasOwnNetworks({ properties }: BackendPool): boolean {
  const entries = properties.loadBalancerBackendAddresses ?? [];
  return (
    properties.virtualNetwork === undefined && entries.some((entry) => entry.properties.virtualNetwork !== undefined)
  );
}

/** Azure does not mix network interfaces and addresses in one pool, and only their owners can take interfaces out. */
export function holdsInterfaces({ properties }: BackendPool): boolean {
  const entries = properties.loadBalancerBackendAddresses ?? [];
  return (
    (properties.backendIPConfigurations ?? []).length > 0 ||
    entries.some((entry) => entry.properties.networkInterfaceIPConfiguration !== undefined)
  );
}

function refuseMixing(seen: BackendPool): Merged<BackendPool> {
  const message =
    `backend pool "${seen.name}" holds network interfaces, but loadBalancerBackendPoolConfigurationType is nodeIP: ` +
    `migrate the pool to addresses, or set nodeIPConfiguration`;
  const rejection = { kind: "rejection", reason: "BackendPoolType", message } as const;
  return { outcome: { kind: "unchanged" }, refused: [{ owner: seen.name, rejection }], warnings: [] };
}

function warningsAbout(seen: BackendPool, foreign: readonly BackendAddress[]): { owner: string; warning: Warning }[] {
  if (foreign.length === 0) return [];
  const names = foreign.map(({ name }) => `"${name}"`).join(", ");
  const message = `backend pool "${seen.name}" has entries that are not of this cluster's nodes and stay: ${names}`;
  return [{ owner: seen.name, warning: { reason: "ForeignBackendAddress", message } }];
}
