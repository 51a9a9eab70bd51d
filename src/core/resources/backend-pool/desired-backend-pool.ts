/**
 * Which nodes should be in the cluster's pools of addresses, and which entries of its pools are the cluster's own. Made
 * once for a set of nodes, however many Services ask: the answer is remembered for as long as the list of nodes lives.
 */
import { memo, memoAll } from "../../util/memo.ts";
import type { Family, BackendAddress, BackendPool, LoadBalancer, Reference } from "../../model/arm.ts";
import { desiredAdminState } from "../../admin-state/reconcile-admin-state.ts";
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { virtualNetworkId } from "../../model/ids.ts";
import type { Node } from "../../model/kubernetes.ts";
import { isInternalName, poolName } from "../../model/names.ts";
import { contestedAddresses } from "../../backends/contested-nodes.ts";
import { isEligible, nodeAddress } from "../../backends/eligible-nodes.ts";
import type { MemberIntent, BackendPoolFragment } from "./fragment.ts";
import type { OwnPool } from "./own-pools.ts";
import { canonicalAddress } from "../../util/cidr.ts";

export interface BackendPoolInput {
  readonly config: ClusterConfig;
  readonly nodes: readonly Node[];
  /** Those of the nodes that belong to the load balancer; absent: all. */
  readonly arranged?: readonly Node[];
  /** The durable member list of the load balancer. */
  readonly known: readonly string[];
}

/** The cluster's pool. */
export function desiredBackendPool(
  { config, nodes, arranged = nodes, known }: BackendPoolInput,
  family: Family,
): BackendPoolFragment {
  return DESIRED[family](config, nodes, known, arranged);
}

/** The pool of a Service's own. `endpoints`: names of the nodes with its endpoints. */
export function desiredOwnPool(
  { config, nodes, known }: BackendPoolInput,
  pool: OwnPool,
  endpoints: ReadonlySet<string>,
): BackendPoolFragment {
  return OWN_DESIRED[pool.family](config, nodes, known, pool, endpoints);
}

const OWN_DESIRED = { IPv4: ownDesiredOf("IPv4"), IPv6: ownDesiredOf("IPv6") };

function ownDesiredOf(family: Family) {
  return memoAll(
    (
      config: ClusterConfig,
      nodes: readonly Node[],
      known: readonly string[],
      { name }: OwnPool,
      endpoints: ReadonlySet<string>,
    ): BackendPoolFragment => {
      const members = nodes.filter(({ metadata }) => endpoints.has(metadata.name));
      return { ...fragmentOf(config, nodes, known, members, family), pool: name };
    },
  );
}

/** Once for all Services of a load balancer. */
const DESIRED = { IPv4: desiredOf("IPv4"), IPv6: desiredOf("IPv6") };

function desiredOf(family: Family) {
  return memoAll((config: ClusterConfig, nodes: readonly Node[], known: readonly string[], arranged: readonly Node[]) =>
    fragmentOf(config, nodes, known, arranged, family),
  );
}

/** `chosen`: of the nodes, those that the pool is for. */
function fragmentOf(
  config: ClusterConfig,
  nodes: readonly Node[],
  known: readonly string[],
  chosen: readonly Node[],
  family: Family,
): BackendPoolFragment {
  const members = chosen.flatMap((node) => memberOf(node, config, family)).sort(byName);
  const names = new Set(members.map(({ name }) => name));
  const outsiders = nodes.map(({ metadata }) => metadata.name).filter((name) => !names.has(name));
  return {
    pool: poolName(config.clusterName, family),
    family,
    members,
    ...(chosen !== nodes && nodes.length > 0 && { mayBeEmpty: true }),
    ...contestedBy(nodes),
    outsiders: new Set(outsiders.map((name) => name.toLowerCase())),
    own: ownEntries(nodes, known),
    virtualNetworkId: virtualNetworkId(config),
  };
}

export const addressesOfMembers = memo((fragment: BackendPoolFragment): readonly string[] => [
  ...new Set(fragment.members.map(({ ipAddress }) => ipAddress)),
]);

function contestedBy(nodes: readonly Node[]): Pick<BackendPoolFragment, "contested"> {
  const contested = contestedAddresses(nodes);
  if (contested.size === 0) return {};
  const names = (claimants: readonly Node[]): string[] => claimants.map(({ metadata }) => metadata.name);
  return { contested: new Map([...contested].map(([address, claimants]) => [address, names(claimants)])) };
}

function memberOf(node: Node, config: ClusterConfig, family: Family): MemberIntent[] {
  const ipAddress = isEligible(node, config) ? nodeAddress(node, family) : undefined;
  if (ipAddress === undefined) return [];
  const adminState = config.enableAdminState && config.sku === "standard" ? desiredAdminState(node) : undefined;
  return [{ name: node.metadata.name, ipAddress, adminState }];
}

function byName(one: MemberIntent, other: MemberIntent): number {
  return one.name < other.name ? -1 : Number(one.name > other.name);
}

const NO_MEMBERS: readonly string[] = [];

/** The durable member list of a load balancer. */
export function membersOf(
  { members }: { readonly members: ReadonlyMap<string, readonly string[]> },
  loadBalancer: LoadBalancer | undefined,
): readonly string[] {
  return members.get(loadBalancer?.id.toLowerCase() ?? "") ?? NO_MEMBERS;
}

/** Another tool fills the pools of this load balancer. */
export function isPreConfigured({ preConfiguredPools }: ClusterConfig, loadBalancer: string): boolean {
  const kind = isInternalName(loadBalancer) ? "internal" : "external";
  return preConfiguredPools === "all" || preConfiguredPools === kind;
}

/** Lower-cased names, canonical addresses and lower-cased ipConfiguration ids: what an entry is recognised by. */
export type OwnEntries = ReadonlySet<string>;

/** `known`: the durable member list; `ipConfigurations`: ids that belong to nodes, for pools of network interfaces. */
export function ownEntries(
  nodes: readonly Node[],
  known: readonly string[],
  ipConfigurations: Iterable<string> = [],
): OwnEntries {
  const own = new Set<string>();
  for (const node of nodes) {
    own.add(node.metadata.name.toLowerCase());
    for (const { type, address } of node.status.addresses ?? []) {
      if (type === "InternalIP") own.add(canonicalAddress(address));
    }
  }
  for (const name of known) own.add(name.toLowerCase());
  for (const id of ipConfigurations) own.add(id.toLowerCase());
  return own;
}

/**
 * An entry is the cluster's if it is named after a current Node or stands in the durable member list; also if it holds a
 * current Node's address or network interface, whatever it is called (pools that Azure migrated from network interfaces to
 * addresses have such names). Anything else was put there by another client and is kept.
 */
export function isOwnEntry(entry: BackendAddress, own: OwnEntries): boolean {
  const { ipAddress, networkInterfaceIPConfiguration } = entry.properties;
  return (
    own.has(entry.name.toLowerCase()) ||
    (ipAddress !== undefined && own.has(canonicalAddress(ipAddress))) ||
    (networkInterfaceIPConfiguration !== undefined && isOwnReference(networkInterfaceIPConfiguration, own))
  );
}

/** The names, in lower case, of the pool's entries that are the cluster's. */
export function ownNames({ properties }: BackendPool, own: OwnEntries): ReadonlySet<string> {
  const entries = properties.loadBalancerBackendAddresses ?? [];
  return new Set(entries.filter((entry) => isOwnEntry(entry, own)).map(lowerName));
}

export function lowerName({ name }: { readonly name: string }): string {
  return name.toLowerCase();
}

/** For `backendIPConfigurations`, where a pool lists the network interfaces that joined it. */
export function isOwnReference(reference: Reference, own: OwnEntries): boolean {
  return own.has(reference.id.toLowerCase());
}
