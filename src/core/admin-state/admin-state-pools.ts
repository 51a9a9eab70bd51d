/**
 * The backend pools in which nodes stand, of every load balancer that we manage: internal and external, both families.
 * Pools of others in the same load balancers are not ours to drain.
 */
import type { BackendPool, LoadBalancer } from "../model/arm.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import { loadBalancerPartId } from "../model/ids.ts";
import { indexOf } from "../resources/load-balancer/load-balancer-index.ts";
import { isManagedLoadBalancer, poolName } from "../model/names.ts";

export interface PoolPlace {
  readonly id: string;
  readonly pool: BackendPool;
  readonly loadBalancer: LoadBalancer;
}

/** Admin state is a feature of Standard load balancers. */
export function hasAdminState({ enableAdminState, sku }: Pick<ClusterConfig, "enableAdminState" | "sku">): boolean {
  return enableAdminState && sku === "standard";
}

export function adminStatePools(config: ClusterConfig, loadBalancers: readonly LoadBalancer[]): PoolPlace[] {
  if (!hasAdminState(config)) return [];
  return loadBalancers
    .filter(({ name }) => isManagedLoadBalancer(name, config, []))
    .flatMap((loadBalancer) =>
      (["IPv4", "IPv6"] as const).flatMap((family) => {
        const pool = indexOf(loadBalancer).pools.get(poolName(config.clusterName, family).toLowerCase());
        if (pool === undefined) return [];
        return [{ id: loadBalancerPartId(loadBalancer.id, "backendAddressPools", pool.name), pool, loadBalancer }];
      }),
    );
}
