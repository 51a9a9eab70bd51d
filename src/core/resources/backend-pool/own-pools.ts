/**
 * The pools of Services that have one of their own: their names, and the nodes with endpoints. A node counts while an
 * endpoint on it serves, also one that terminates: its connections may end there, and the health probe keeps new ones away.
 * Of two Services that come to the same name the pool holds the nodes of both; each rule's probe tells them apart.
 */
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { parseService } from "../../intent/parse-service.ts";
import type { Family } from "../../model/arm.ts";
import type { EndpointSlice, Service } from "../../model/kubernetes.ts";
import { ownPoolName } from "../../model/names.ts";
import { memo, memoAll } from "../../util/memo.ts";

export interface OwnPool {
  readonly name: string;
  readonly family: Family;
  /** `namespace/name` of the Services that it is for. */
  readonly services: readonly string[];
}

const NO_NODES: ReadonlySet<string> = new Set();

/** By name. */
export const ownPools = memoAll((config: ClusterConfig, services: readonly Service[]): ReadonlyMap<string, OwnPool> => {
  const pools = new Map<string, OwnPool>();
  for (const service of config.loadBalancers.length === 0 ? [] : services) {
    const parsed = parseService(service, config);
    if (!("intent" in parsed) || !parsed.intent.hasOwnPool) continue;
    const { owner, families } = parsed.intent;
    for (const family of families) {
      const name = ownPoolName(owner.key, family);
      pools.set(name, { name, family, services: [...(pools.get(name)?.services ?? []), owner.key] });
    }
  }
  return pools;
});

/** Names of the nodes that the pool should hold. */
export const endpointNodes = memoAll((slices: readonly EndpointSlice[], pool: OwnPool): ReadonlySet<string> => {
  const sets = pool.services.map((key) => byService(slices).get(`${key} ${pool.family}`) ?? NO_NODES);
  return sets.length === 1 ? (sets[0] ?? NO_NODES) : new Set(sets.flatMap((set) => [...set]));
});

const byService = memo((slices: readonly EndpointSlice[]): ReadonlyMap<string, ReadonlySet<string>> => {
  const nodes = new Map<string, Set<string>>();
  for (const { service, addressType, nodeNames } of slices) {
    const key = `${service} ${addressType}`;
    const found = nodes.get(key) ?? new Set();
    for (const name of nodeNames) found.add(name);
    nodes.set(key, found);
  }
  return nodes;
});
