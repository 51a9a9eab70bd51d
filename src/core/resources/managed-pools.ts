/**
 * Which backend pools the controller fills, and what that is decided on. Pools that the config calls pre-configured are
 * filled by another tool, unless the controller made them: then the member list names nodes since before they were made.
 */
import type { Compute } from "../backends/compute.ts";
import { vmSetOf } from "../backends/machines.ts";
import type { PoolBrake } from "../brake/pool-brake.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { BackendPool, Family, LoadBalancer } from "../model/arm.ts";
import { loadBalancerPartId } from "../model/ids.ts";
import type { EndpointSlice, Node, Service } from "../model/kubernetes.ts";
import { isManagedLoadBalancer, poolName } from "../model/names.ts";
import { isPreConfigured, membersOf } from "./backend-pool/desired-backend-pool.ts";
import { loadBalancerIndex } from "./load-balancer/load-balancer-index.ts";

export interface PoolsInput {
  readonly config: ClusterConfig;
  readonly nodes: readonly Node[];
  readonly loadBalancers: readonly LoadBalancer[];
  /** By load balancer id in lower case: the durable member list. */
  readonly members: ReadonlyMap<string, readonly string[]>;
  readonly compute?: Compute;
  /** With several load balancers: the Services that may have pools of their own, and the endpoints. */
  readonly otherServices?: readonly Service[];
  readonly endpointSlices?: readonly EndpointSlice[];
  /** As of `desiredNicPools`. */
  readonly repairs?: boolean;
  /** Absent: nothing is withheld. */
  readonly brake?: PoolBrake;
}

export const BOTH: readonly Family[] = ["IPv4", "IPv6"];

export function managedLoadBalancers(input: PoolsInput): LoadBalancer[] {
  const isManaged = isManagedName(input);
  return input.loadBalancers.filter(({ name, properties }) => isManaged(name) && !isBeingDeleted(properties));
}

/** Tells the load balancers of the cluster by their names. */
export function isManagedName({ config, nodes, compute }: PoolsInput): (name: string) => boolean {
  const vmSets = config.sku === "basic" ? nodes.flatMap((node) => vmSetOf(node, compute) ?? []) : [];
  return (name) => isManagedLoadBalancer(name, config, vmSets);
}

/** A pool of the cluster, of one family. */
export interface ManagedPool {
  readonly family: Family;
  readonly pool: BackendPool;
}

/** Those of one load balancer. A family without a pool is skipped. */
export function managedPools(
  input: PoolsInput,
  loadBalancer: LoadBalancer,
  families: readonly Family[],
): ManagedPool[] {
  const { config } = input;
  const { pools } = loadBalancerIndex(loadBalancer);
  const known = membersOf(input, loadBalancer);
  return families.flatMap((family) => {
    const pool = pools.get(poolName(config.clusterName, family).toLowerCase());
    return pool !== undefined && isManagedPool(config, loadBalancer, known) ? [{ family, pool }] : [];
  });
}

export function poolId(loadBalancer: LoadBalancer, { id, name }: BackendPool): string {
  return id ?? loadBalancerPartId(loadBalancer.id, "backendAddressPools", name);
}

/** By the load balancer and its member list. */
export function isManagedPool(config: ClusterConfig, loadBalancer: LoadBalancer, known: readonly string[]): boolean {
  return !isPreConfigured(config, loadBalancer.name) || known.length > 0;
}

/** Azure lists it until it is gone. A machine that joined one of its pools now would name what no longer exists. */
function isBeingDeleted({ provisioningState }: LoadBalancer["properties"]): boolean {
  return provisioningState === "Deleting";
}
