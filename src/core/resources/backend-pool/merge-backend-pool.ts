/**
 * Puts the nodes into one pool of addresses.
 *
 *   - An entry is ours by the rule of `desired-backend-pool.ts`; a foreign one stays as it is, and is reported.
 *   - Ours that no node stands for goes, except the last of them: a pool is never emptied because no nodes are known; and
 *     except those that the brake withholds.
 *   - A node whose address is in the pool already is not added again, whatever that entry is called.
 *   - Of several nodes with one address the one whose entry is there stays, else the oldest comes.
 *   - What is right stays the object that was read, unknown fields included; new entries come last, by name.
 *   - Where all entries are ours and name the config's VNet themselves, as after Azure's migration, the pool names it instead.
 */
import type { BackendAddress, BackendPool, Reference } from "../../model/arm.ts";
import { correctAdminState } from "../../admin-state/reconcile-admin-state.ts";
import { sameId } from "../../model/ids.ts";
import { canonicalAddress } from "../../util/cidr.ts";
import { ACCEPTED, type Answer, type Merged, type Rejection, unchanged, type Warning } from "../../outcome.ts";
import type { MemberIntent, BackendPoolFragment } from "./fragment.ts";
import { memoAll } from "../../util/memo.ts";
import { pluralize } from "../../util/text.ts";
import { reconciled, type Reconciled } from "../reconciled.ts";
import { isOwnEntry } from "./desired-backend-pool.ts";

/** Of one fragment. */
interface Judged {
  readonly outcome: Merged<BackendPool>["outcome"];
  readonly answer: Answer;
}

/**
 * Every fragment says the same of the cluster: the newest is put in, and its answer is all fragments' answer. A pool is
 * made and deleted with its load balancer, never here.
 */
export function mergeBackendPool(
  seen: BackendPool | undefined,
  fragments: readonly BackendPoolFragment[],
): Merged<BackendPool> {
  const newest = fragments.at(-1);
  if (seen === undefined || newest === undefined) return unchanged(fragments);
  const { outcome, answer } = judge(seen, newest);
  return { outcome, answers: fragments.map(() => answer) };
}

/** Once for all Services of a pool: each asks for the same pair. */
const judge: (seen: BackendPool, fragment: BackendPoolFragment) => Judged = memoAll(merge);

function merge(seen: BackendPool, fragment: BackendPoolFragment): Judged {
  const entries = seen.properties.loadBalancerBackendAddresses ?? [];
  if (holdsInterfaces(seen) && fragment.migrates === true)
    return { outcome: migration(seen, fragment), answer: ACCEPTED };
  if (holdsInterfaces(seen))
    return { outcome: { kind: "unchanged" }, answer: { kind: "refused", rejection: mixing(seen) } };
  const members = withoutContested(fragment, entries);
  const wanted = new Map(members.map((member) => [member.name.toLowerCase(), member]));
  const byAddress = unnamedByAddress(fragment, members, entries);
  const missing = new Set(members);
  const kept: BackendAddress[] = [];
  const dropped: BackendAddress[] = [];
  for (const entry of entries) {
    const member = wanted.get(entry.name.toLowerCase()) ?? byAddress(entry);
    if (member !== undefined && missing.delete(member)) kept.push(corrected(entry, member));
    else if (isOwnEntry(entry, fragment.own) && !fragment.keep?.has(entry.name.toLowerCase())) dropped.push(entry);
    else kept.push(entry);
  }
  const foreign = kept.filter((entry) => !isOwnEntry(entry, fragment.own));
  const answer: Answer = foreign.length === 0 ? ACCEPTED : { kind: "accepted", warnings: [warningOf(seen, foreign)] };
  if (members.length === 0 && fragment.mayBeEmpty !== true) return { outcome: { kind: "unchanged" }, answer };
  const lifts = liftsNetwork(seen, fragment);
  const before = lifts ? withoutNetworks(seen) : seen;
  const added = [...missing].map((member) => entryOf(member, before, fragment));
  const isRight =
    !lifts && dropped.length === 0 && added.length === 0 && kept.every((entry, at) => entry === entries[at]);
  if (isRight) return { outcome: { kind: "unchanged" }, answer };
  const all = [...(lifts ? kept.map(withoutNetwork) : kept), ...added];
  const body = bodyOf(before, fragment, all);
  return { outcome: { kind: "put", body: fragment.leavesNetwork === true ? withoutPoolNetwork(body) : body }, answer };
}

function withoutPoolNetwork(pool: BackendPool): BackendPool {
  const { virtualNetwork: _, ...properties } = pool.properties;
  return { ...pool, properties };
}

/** Azure keeps the names and admin states of the members, and gives each the address of its interface. */
function migration(seen: BackendPool, { members, virtualNetworkId }: BackendPoolFragment): Judged["outcome"] {
  const { backendIPConfigurations: _, ...properties } = seen.properties;
  const entries = members.map(({ name, ipAddress }) => ({
    name,
    properties: { ipAddress, virtualNetwork: { id: virtualNetworkId } },
  }));
  const body = { ...seen, properties: { ...properties, loadBalancerBackendAddresses: entries } };
  return { kind: "post", action: { name: "migrateToIpBased", request: { pools: [seen.name] } }, body };
}

function liftsNetwork(seen: BackendPool, fragment: BackendPoolFragment): boolean {
  const entries = seen.properties.loadBalancerBackendAddresses ?? [];
  return (
    hasOwnNetworks(seen) &&
    entries.every(
      (entry) =>
        isOwnEntry(entry, fragment.own) && sameId(entry.properties.virtualNetwork?.id, fragment.virtualNetworkId),
    )
  );
}

function withoutNetworks(pool: BackendPool): BackendPool {
  const entries = (pool.properties.loadBalancerBackendAddresses ?? []).map(withoutNetwork);
  return { ...pool, properties: { ...pool.properties, loadBalancerBackendAddresses: entries } };
}

function withoutNetwork(entry: BackendAddress): BackendAddress {
  const { virtualNetwork: _, ...properties } = entry.properties;
  return { ...entry, properties };
}

/** Each address once. */
function withoutContested(
  { members, contested }: BackendPoolFragment,
  entries: readonly BackendAddress[],
): readonly MemberIntent[] {
  if (contested === undefined) return members;
  const held = new Set(entries.map(({ name, properties }) => entryKey(name, properties.ipAddress ?? "")));
  return members.filter(({ name, ipAddress }) => {
    const claimants = contested.get(canonicalAddress(ipAddress));
    const holder = claimants?.find((claimant) => held.has(entryKey(claimant, ipAddress))) ?? claimants?.[0];
    return holder === undefined || holder === name;
  });
}

/** The member that an entry stands for by its address: one without an entry of its name, if no other node has that name. */
function unnamedByAddress(
  { members: all, outsiders }: BackendPoolFragment,
  members: readonly MemberIntent[],
  entries: readonly BackendAddress[],
): (entry: BackendAddress) => MemberIntent | undefined {
  const names = new Set(entries.map(({ name }) => name.toLowerCase()));
  const unnamed = members.filter(({ name }) => !names.has(name.toLowerCase()));
  const byAddress = new Map(unnamed.map((member) => [canonicalAddress(member.ipAddress), member]));
  const nodes = new Set(all.map(({ name }) => name.toLowerCase()));
  return ({ name, properties: { ipAddress = "" } }) => {
    const isNode = nodes.has(name.toLowerCase()) || outsiders?.has(name.toLowerCase()) === true;
    return isNode ? undefined : byAddress.get(canonicalAddress(ipAddress));
  };
}

function entryKey(name: string, address: string): string {
  return `${name.toLowerCase()} ${canonicalAddress(address)}`;
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

function mixing(seen: BackendPool): Rejection {
  const message =
    `backend pool "${seen.name}" holds network interfaces, but loadBalancerBackendPoolConfigurationType is nodeIP: ` +
    `migrate the pool to addresses, or set nodeIPConfiguration`;
  return { kind: "rejection", reason: "BackendPoolType", message };
}

function warningOf(seen: BackendPool, foreign: readonly BackendAddress[]): Warning {
  const names = foreign.map(({ name }) => `"${name}"`).join(", ");
  const message = `backend pool "${seen.name}" has entries that are not of this cluster's nodes and stay: ${names}`;
  return { reason: "ForeignBackendAddress", message };
}

/** What one pool of addresses must have written: the nodes that it should hold, where it does not hold them. */
export function reconcileBackendPool(
  id: string,
  seen: BackendPool,
  fragment: BackendPoolFragment,
): Reconciled<"backendPool"> {
  const why = `to hold ${pluralize(fragment.members.length, "node")}`;
  return reconciled(mergeBackendPool(seen, [fragment]), () => ({ kind: "backendPool", id, fragment, why }));
}
