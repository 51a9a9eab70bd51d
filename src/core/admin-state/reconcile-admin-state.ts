/**
 * The admin state of backend addresses: what a node's taints ask for, and what that makes of the entries of its pools.
 * Every writer of pool entries calls these functions. Nothing else of a pool is decided here: members are neither added
 * nor removed, and an entry that belongs to no known node is not touched.
 *
 *   taints on the node                                              | state | reason
 *   ----------------------------------------------------------------|-------|-----------------------------------------
 *   none of these                                                   | None  | the health probe decides
 *   node.kubernetes.io/out-of-service, with any value               | Down  | the node is gone; do not wait for probes
 *   cloudprovider.azure.microsoft.com/draining=spot-eviction        | Down  | it is going; do not wait for probes
 *   azlb.io/drain, with any value                                   | Down  | an operator wants no new connections to it
 *   one of the config's loadBalancerAdminStateTaints                | Down  | as configured
 *   any, and the Node is being deleted                              | Down  | its entries go next
 *
 * Cordons and other taints don't count: they mean "no new pods", not "no traffic".
 * @design AdminStateManager
 */
import type { AdminState, BackendAddress, BackendPool, LoadBalancer } from "../model/arm.ts";
import { contestedAddresses } from "../backends/contested-nodes.ts";
import type { IPConfigurationFinder } from "../backends/machines.ts";
import { canonicalAddress } from "../util/cidr.ts";
import type { Node, Taint } from "../model/kubernetes.ts";
import { answersOf, type Merged, unchanged } from "../outcome.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import { loadBalancerPartId, nameOfId } from "../model/ids.ts";
import { baseOf, isManagedLoadBalancer, isServiceBase, migrationPoolName, poolName } from "../model/names.ts";

export const OUT_OF_SERVICE_TAINT = "node.kubernetes.io/out-of-service";
export const DRAINING_TAINT = "cloudprovider.azure.microsoft.com/draining";
export const SPOT_EVICTION = "spot-eviction";
export const DRAIN_TAINT = "azlb.io/drain";
/** Its value where the machine is about to be deleted. */
export const TERMINATE = "terminate";

export function desiredAdminState(node: Node): "Down" | "None" {
  const isLeaving = node.hasConfiguredTaint === true || node.metadata.deletionTimestamp !== undefined;
  return isLeaving || (node.spec.taints ?? []).some(isDraining) ? "Down" : "None";
}

export const DRAIN_REASONS = ["out-of-service", "spot-eviction", "drain", "configured-taint", "deletion"] as const;
export type DrainReason = (typeof DRAIN_REASONS)[number];

/** Why the node is held Down; empty where it is not. */
export function drainReasons(node: Node): DrainReason[] {
  const keys = new Set((node.spec.taints ?? []).filter(isDraining).map(({ key }) => key));
  return [
    ...(keys.has(OUT_OF_SERVICE_TAINT) ? (["out-of-service"] as const) : []),
    ...(keys.has(DRAINING_TAINT) ? ([SPOT_EVICTION] as const) : []),
    ...(keys.has(DRAIN_TAINT) ? (["drain"] as const) : []),
    ...(node.hasConfiguredTaint === true ? (["configured-taint"] as const) : []),
    ...(node.metadata.deletionTimestamp === undefined ? [] : (["deletion"] as const)),
  ];
}

export function isDraining({ key, value }: Taint): boolean {
  return key === OUT_OF_SERVICE_TAINT || key === DRAIN_TAINT || (key === DRAINING_TAINT && value === SPOT_EVICTION);
}

/**
 * The entry with the admin state that it should have; the entry itself where it has that already.
 *
 *   desired   | entry has | becomes
 *   ----------|-----------|------------------------------------------------------------------
 *   Down      | anything  | Down
 *   None      | Down      | None: the controller set it, or it is left over from an earlier one
 *   None      | Up, None  | unchanged: an Up was set by a user
 *   undefined | anything  | unchanged: not an entry of a known node
 */
export function correctAdminState(entry: BackendAddress, desired: AdminState | undefined): BackendAddress {
  const current = adminStateOf(entry);
  const isRight = desired === undefined || (desired === "Down" ? current === "Down" : current !== "Down");
  return isRight ? entry : { ...entry, properties: { ...entry.properties, adminState: desired } };
}

/** Azure does not echo `None`. */
export function adminStateOf(entry: BackendAddress): AdminState {
  switch ((entry.properties.adminState ?? "").toLowerCase()) {
    case "up":
      return "Up";
    case "down":
      return "Down";
    default:
      return "None";
  }
}

export interface AdminStatePool {
  readonly id: string;
  readonly pool: BackendPool;
  readonly loadBalancer: LoadBalancer;
}

/** Only Standard load balancers have admin state. */
export function hasAdminState({ enableAdminState, sku }: Pick<ClusterConfig, "enableAdminState" | "sku">): boolean {
  return enableAdminState && sku === "standard";
}

/**
 * The pools whose entries admin state is set on: those of the cluster's nodes, in every managed load balancer, internal
 * and external, of both families, and the pools that Services have for themselves. Foreign pools in the same load balancers are never drained.
 */
export function adminStatePools(config: ClusterConfig, loadBalancers: readonly LoadBalancer[]): AdminStatePool[] {
  if (!hasAdminState(config)) return [];
  const clusterPools = (["IPv4", "IPv6"] as const)
    .map((family) => poolName(config.clusterName, family).toLowerCase())
    .flatMap((name) => [name, migrationPoolName(name)]);
  return loadBalancers
    .filter(({ name }) => isManagedLoadBalancer(name, config, []))
    .flatMap((loadBalancer) => {
      const names = new Set([
        ...clusterPools,
        ...(config.loadBalancers.length > 0 ? poolsOfServices(loadBalancer) : []),
      ]);
      const pools = loadBalancer.properties.backendAddressPools ?? [];
      return pools
        .filter((pool) => names.has(pool.name.toLowerCase()))
        .map((pool) => {
          const id = loadBalancerPartId(loadBalancer.id, "backendAddressPools", pool.name);
          return { id, pool, loadBalancer };
        });
    });
}

/** In lower case: those that rules of Services send to. */
function poolsOfServices({ properties }: LoadBalancer): string[] {
  const rules = (properties.loadBalancingRules ?? []).filter(({ name }) => isServiceBase(baseOf(name)));
  return rules.flatMap((rule) => nameOfId(rule.properties.backendAddressPool?.id ?? "").toLowerCase());
}

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
  const all = nodes.flatMap((node) => internal(node).map(({ address }) => [canonicalAddress(address), node] as const));
  const contested = [...contestedAddresses(nodes)].flatMap(([address, [oldest]]) =>
    oldest === undefined ? [] : [[address, oldest] as const],
  );
  return new Map([...all, ...contested]);
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
