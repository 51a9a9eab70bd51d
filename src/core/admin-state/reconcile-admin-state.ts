/**
 * The fast lane of admin state: which entries of a pool must change because of their nodes' taints, and nothing else of
 * the pool. Members are neither added nor removed here, and an entry of no node of ours is not touched.
 * @design AdminStateManager
 */
import type { BackendAddress, BackendPool } from "../model/arm.ts";
import type { IPConfigurationFinder } from "../backends/machines.ts";
import { canonicalAddress } from "../util/cidr.ts";
import type { Node } from "../model/kubernetes.ts";
import type { Merged } from "../steps.ts";
import { adminStateOf, correctAdminState } from "./correct-admin-state.ts";
import { desiredAdminState } from "./desired-admin-state.ts";

export interface NodeFinder {
  /** `undefined`: the entry is of no node that we know. */
  (entry: BackendAddress): Node | undefined;
}

/** `byIPConfiguration`: for pools of network interfaces, see `backends/machines.ts`. */
export function nodeFinder(nodes: readonly Node[], byIPConfiguration?: IPConfigurationFinder): NodeFinder {
  const byName = new Map(nodes.map((node) => [node.metadata.name.toLowerCase(), node]));
  let byAddress: ReadonlyMap<string, Node> | undefined; // seldom needed, and costly for a thousand nodes
  return ({ name, properties: { ipAddress, networkInterfaceIPConfiguration } }) =>
    byName.get(name.toLowerCase()) ??
    (networkInterfaceIPConfiguration && byIPConfiguration?.(networkInterfaceIPConfiguration.id)) ??
    (ipAddress === undefined ? undefined : (byAddress ??= addressesOf(nodes)).get(canonicalAddress(ipAddress)));
}

function addressesOf(nodes: readonly Node[]): ReadonlyMap<string, Node> {
  const internal = (node: Node) => (node.status.addresses ?? []).filter(({ type }) => type === "InternalIP");
  return new Map(nodes.flatMap((node) => internal(node).map(({ address }) => [canonicalAddress(address), node])));
}

export interface AdminStateChange {
  readonly node: Node;
  readonly entry: string;
  readonly state: "Down" | "None";
}

export interface ReconciledAdminState {
  /** The pool to write; the one that was handed in where nothing changes. */
  readonly pool: BackendPool;
  readonly changes: readonly AdminStateChange[];
}

const UNCHANGED: Merged<never> = { outcome: { kind: "unchanged" }, refused: [], warnings: [] };

export function reconcileAdminState(pool: BackendPool, nodeOf: NodeFinder): ReconciledAdminState {
  const changes: AdminStateChange[] = [];
  const entries = (pool.properties.loadBalancerBackendAddresses ?? []).map((entry) => {
    const node = nodeOf(entry);
    if (node === undefined) return entry;
    const state = desiredAdminState(node);
    const right = correctAdminState(entry, state);
    if (right !== entry) changes.push({ node, entry: entry.name, state });
    return right;
  });
  if (changes.length === 0) return { pool, changes };
  const properties = { ...pool.properties, loadBalancerBackendAddresses: entries };
  return { pool: { ...pool, properties }, changes };
}

/** A merge of the group commit: one write of a pool for everybody in it. A pool that has gone needs none. */
export function mergeAdminState(seen: BackendPool | undefined, nodeOf: NodeFinder): Merged<BackendPool> {
  if (seen === undefined) return UNCHANGED;
  const { pool } = reconcileAdminState(seen, nodeOf);
  return pool === seen ? UNCHANGED : { ...UNCHANGED, outcome: { kind: "put", body: pool } };
}

/** Whether nobody in the pool may be given a new connection any more, because all who are in it are held Down. */
export function isDrained({ properties }: BackendPool): boolean {
  const entries = properties.loadBalancerBackendAddresses ?? [];
  return entries.length > 0 && entries.every((entry) => adminStateOf(entry) === "Down");
}
