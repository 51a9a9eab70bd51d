/**
 * The pools whose entries admin state is set on: those of the cluster's nodes, in every managed load balancer, internal
 * and external, of both families. Foreign pools in the same load balancers are never drained.
 */
import type { BackendPool, LoadBalancer } from "../model/arm.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import { loadBalancerPartId } from "../model/ids.ts";
import { loadBalancerIndex } from "../resources/load-balancer/load-balancer-index.ts";
import { isManagedLoadBalancer, poolName } from "../model/names.ts";

export interface AdminStatePool {
  readonly id: string;
  readonly pool: BackendPool;
  readonly loadBalancer: LoadBalancer;
}

/** Only Standard load balancers have admin state. */
export function hasAdminState({ enableAdminState, sku }: Pick<ClusterConfig, "enableAdminState" | "sku">): boolean {
  return enableAdminState && sku === "standard";
}

export function adminStatePools(config: ClusterConfig, loadBalancers: readonly LoadBalancer[]): AdminStatePool[] {
  if (!hasAdminState(config)) return [];
  return loadBalancers
    .filter(({ name }) => isManagedLoadBalancer(name, config, []))
    .flatMap((loadBalancer) =>
      (["IPv4", "IPv6"] as const).flatMap((family) => {
        const pool = loadBalancerIndex(loadBalancer).pools.get(poolName(config.clusterName, family).toLowerCase());
        if (pool === undefined) return [];
        return [{ id: loadBalancerPartId(loadBalancer.id, "backendAddressPools", pool.name), pool, loadBalancer }];
      }),
    );
}
