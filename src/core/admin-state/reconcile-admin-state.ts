/**
 * The admin states of a pool's entries according to their nodes' taints, and nothing else of the pool: members are
 * neither added nor removed here, and an entry that belongs to no known node is not touched.
 * @design AdminStateManager
 */
import type { AdminState, BackendAddress, BackendPool } from "../model/arm.ts";
import type { IPConfigurationFinder } from "../backends/machines.ts";
import { canonicalAddress } from "../util/cidr.ts";
import type { Node } from "../model/kubernetes.ts";
import { answersOf, type Merged, unchanged } from "../outcome.ts";
import { adminStateOf, correctAdminState, desiredAdminState } from "./desired-admin-state.ts";

export interface NodeFinder {
  /** `undefined`: the entry belongs to no known node. */
  (entry: BackendAddress): Node | undefined;
}

/** `byIPConfiguration`: for pools of network interfaces (`backends/machines.ts`). */
export function nodeFinder(nodes: readonly Node[], byIPConfiguration?: IPConfigurationFinder): NodeFinder {
  const byName = new Map(nodes.map((node) => [node.metadata.name.toLowerCase(), node]));
  let byAddress: ReadonlyMap<string, Node> | undefined; // rarely needed, and expensive for a thousand nodes
  return ({ name, properties: { ipAddress, networkInterfaceIPConfiguration } }) =>
    byName.get(name.toLowerCase()) ??
    (networkInterfaceIPConfiguration && byIPConfiguration?.(networkInterfaceIPConfiguration.id)) ??
    (ipAddress === undefined ? undefined : (byAddress ??= addressesOf(nodes)).get(canonicalAddress(ipAddress)));
}

function addressesOf(nodes: readonly Node[]): ReadonlyMap<string, Node> {
  const internal = (node: Node) => (node.status.addresses ?? []).filter(({ type }) => type === "InternalIP");
  return new Map(nodes.flatMap((node) => internal(node).map(({ address }) => [canonicalAddress(address), node])));
}

/** The pool to write; the given one where nothing changes. */
export function reconcileAdminState(pool: BackendPool, nodeOf: NodeFinder): BackendPool {
  const { loadBalancerBackendAddresses: seen = [] } = pool.properties;
  const entries = seen.map((entry) => {
    const node = nodeOf(entry);
    return node === undefined ? entry : correctAdminState(entry, desiredAdminState(node));
  });
  if (entries.every((entry, at) => entry === seen[at])) return pool;
  return { ...pool, properties: { ...pool.properties, loadBalancerBackendAddresses: entries } };
}

/** What a write of admin states carries: the nodes as they are when it leaves, which decide instead of a copy. */
export interface AdminStateFragment {
  readonly nodeOf: NodeFinder;
}

/** One write of a pool for all nodes in it; the newest fragment decides. A pool that has gone needs none. */
export function mergeAdminState(
  seen: BackendPool | undefined,
  fragments: readonly AdminStateFragment[],
): Merged<BackendPool> {
  const newest = fragments.at(-1);
  if (seen === undefined || newest === undefined) return unchanged(fragments);
  const pool = reconcileAdminState(seen, newest.nodeOf);
  return pool === seen ? unchanged(fragments) : { outcome: { kind: "put", body: pool }, answers: answersOf(fragments) };
}

/** Whether the pool has entries and all of them are Down, so that no new connection is accepted. */
export function isDrained({ properties }: BackendPool): boolean {
  const entries = properties.loadBalancerBackendAddresses ?? [];
  return entries.length > 0 && entries.every((entry) => adminStateOf(entry) === "Down");
}

/**
 * A fragment that was decided earlier, with current admin states: a taint may have come or gone since. A member whose
 * node is gone has none, so its entry keeps the state it has until it is removed.
 * Returns the fragment itself where nothing has changed.
 */
export function refreshAdminStates<Fragment extends { readonly members: readonly Member[] }>(
  fragment: Fragment,
  nodeOf: NodeFinder,
): Fragment {
  const members = fragment.members.map((member) => refreshed(member, nodeOf));
  return members.every((member, at) => member === fragment.members[at]) ? fragment : { ...fragment, members };
}

/** A member of a pool, as a fragment wants it. */
interface Member {
  readonly name: string;
  readonly adminState: AdminState | undefined;
}

function refreshed(member: Member, nodeOf: NodeFinder): Member {
  const node = nodeOf({ name: member.name, properties: {} });
  const adminState = node && desiredAdminState(node);
  return adminState === member.adminState ? member : { ...member, adminState };
}
