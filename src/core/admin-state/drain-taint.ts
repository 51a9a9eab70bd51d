/**
 * A drain by hand: the taint `azlb.io/drain` on a Node. It says "no new connections" and nothing about the pods there,
 * which stay with their volumes; the effect decides only if new pods may come. What the taint leads to is
 * `reconcile-admin-state.ts`'s.
 */
import type { BackendAddress } from "../model/arm.ts";
import type { Node, Taint } from "../model/kubernetes.ts";
import { adminStateOf, type AdminStatePool, DRAIN_TAINT, type NodeFinder } from "./reconcile-admin-state.ts";

/** `NoSchedule`: new pods stay away. `PreferNoSchedule`: they may come. Neither evicts a pod. */
export type DrainEffect = "NoSchedule" | "PreferNoSchedule";

/** The taints of the Node with a drain of that effect; `undefined` where it has that already. */
export function drainedTaints(node: Node, effect: DrainEffect): readonly Taint[] | undefined {
  const taints = node.spec.taints ?? [];
  const drains = taints.filter(({ key }) => key === DRAIN_TAINT);
  if (drains.length === 1 && drains[0]?.effect === effect) return undefined;
  return [...taints.filter(({ key }) => key !== DRAIN_TAINT), { key: DRAIN_TAINT, value: "manual", effect }];
}

/** The taints of the Node without drains; `undefined` where it has none. */
export function undrainedTaints(node: Node): readonly Taint[] | undefined {
  const taints = node.spec.taints ?? [];
  const others = taints.filter(({ key }) => key !== DRAIN_TAINT);
  return others.length === taints.length ? undefined : others;
}

/** A pool with the Node in it. */
export interface NodeEntry {
  readonly place: AdminStatePool;
  readonly state: "Down" | "None" | "Up";
}

/** The entries of a Node in the cluster's pools, as Azure has them. A Node may be in a pool more than once. */
export function entriesOfNode(name: string, places: readonly AdminStatePool[], nodeOf: NodeFinder): NodeEntry[] {
  const isOfNode = (entry: BackendAddress): boolean => nodeOf(entry)?.metadata.name === name;
  return places.flatMap((place) =>
    (place.pool.properties.loadBalancerBackendAddresses ?? [])
      .filter(isOfNode)
      .map((entry) => ({ place, state: adminStateOf(entry) })),
  );
}
