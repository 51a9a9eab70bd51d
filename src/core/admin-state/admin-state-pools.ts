/**
 * The pools whose entries admin state is set on: those of the cluster's nodes, in every managed load balancer, internal
 * and external, of both families. Foreign pools in the same load balancers are never drained.
 */
import type { BackendPool, LoadBalancer } from "../model/arm.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import { loadBalancerPartId } from "../model/ids.ts";
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
        const name = poolName(config.clusterName, family).toLowerCase();
        const pools = loadBalancer.properties.backendAddressPools ?? [];
        return pools
          .filter((pool) => pool.name.toLowerCase() === name)
          .map((pool) => {
            const id = loadBalancerPartId(loadBalancer.id, "backendAddressPools", pool.name);
            return { id, pool, loadBalancer };
          });
      }),
    );
}
