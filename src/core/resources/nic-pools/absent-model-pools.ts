/**
 * Pools that the model of a scale set names although their load balancer is gone: the model joined while that was being
 * deleted. Azure itself takes machines out, and refuses every write of a model that keeps such a pool.
 */
import { loadBalancerId, nameOfId, parentId, sameId } from "../../model/ids.ts";
import { isManagedName, type PoolsInput } from "../managed-pools.ts";
import type { DesiredNicPools } from "./desired-nic-pools.ts";
import type { PoolRef } from "./fragment.ts";
import { poolsOf } from "./merge-nic-pools.ts";

/** What tells whether a pool that a model names is one of the cluster's that is gone. */
export type ModelsSeen = Pick<PoolsInput, "config" | "nodes" | "compute" | "loadBalancers" | "members">;

/** The scale sets whose model names such pools leave them. */
export function absentModelPools(seen: ModelsSeen): DesiredNicPools[] {
  const { config, compute, loadBalancers } = seen;
  const models = [...(compute?.scaleSets.values() ?? [])];
  if (models.length === 0) return [];
  const isManaged = isManagedName(seen);
  const present = new Set(loadBalancers.map(({ id }) => id.toLowerCase()));
  const isGone = (loadBalancer: string): boolean => {
    const name = nameOfId(loadBalancer);
    const isOurs = isManaged(name) && sameId(loadBalancer, loadBalancerId(config, name));
    return isOurs && !present.has(loadBalancer.toLowerCase());
  };
  return models.flatMap((model) => {
    const gone = poolsOf(model, "scaleSet").filter((pool) => isGone(parentId(pool)));
    const leave = gone.map((pool): PoolRef => ({ pool, family: "IPv4" }));
    return leave.length === 0 ? [] : [{ id: model.id, fragment: { resource: "scaleSet", join: [], leave } }];
  });
}
