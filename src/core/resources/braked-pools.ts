/**
 * The pools with the brake on them: which members stay although no node stands for them, because too many would go at
 * once. `brake/pool-brake.ts` decides how many that is; `nic-pools` does the same for pools of network interfaces, and
 * `braked-own-pools.ts` for the pools that Services have of their own.
 */
import { isEligible } from "../backends/eligible-nodes.ts";
import { isLeaving, withheldMembers } from "../brake/pool-brake.ts";
import type { WithheldMembers } from "../brake/withheld-writes.ts";
import type { LoadBalancer } from "../model/arm.ts";
import type { Node } from "../model/kubernetes.ts";
import { nodesOf } from "./backend-pool/arranged-nodes.ts";
import { desiredBackendPool, lowerName, membersOf, ownNames } from "./backend-pool/desired-backend-pool.ts";
import type { BackendPoolFragment } from "./backend-pool/fragment.ts";
import { mergeBackendPool } from "./backend-pool/merge-backend-pool.ts";
import { ownPoolsOn, withheldInOwnPools } from "./braked-own-pools.ts";
import { countServicesOn, loadBalancerIndex } from "./load-balancer/load-balancer-index.ts";
import {
  BOTH,
  managedLoadBalancers,
  type ManagedPool,
  managedPools,
  poolId,
  type PoolsInput,
} from "./managed-pools.ts";
import { ownMachines, withheldMachines } from "./nic-pools/desired-nic-pools.ts";

/** The members that the brake keeps in the pools of a load balancer. */
export function withheldIn(input: PoolsInput, loadBalancer: LoadBalancer, families = BOTH): WithheldMembers[] {
  const { config, compute } = input;
  return managedPools(input, loadBalancer, families).flatMap((managed) => {
    const known = membersOf(input, loadBalancer);
    const kept =
      config.poolType === "nodeIP"
        ? brakedPool(input, loadBalancer, managed).keep
        : compute && withheldMachines({ ...input, compute, loadBalancer, known }, managed.family);
    if (kept === undefined || kept.size === 0) return [];
    return [{ pool: poolId(loadBalancer, managed.pool).toLowerCase(), members: [...kept].sort() }];
  });
}

/** Of all load balancers of the cluster. */
export function withheldInPools(input: PoolsInput): WithheldMembers[] {
  return managedLoadBalancers(input).flatMap((loadBalancer) => [
    ...withheldIn(input, loadBalancer),
    ...withheldInOwnPools(input, loadBalancer),
  ]);
}

/** By pool id in lower case: its members that are the cluster's, as the brake names them. */
export function ownMembersOfPools(input: PoolsInput): ReadonlyMap<string, ReadonlySet<string>> {
  const { config, nodes, compute } = input;
  const all = managedLoadBalancers(input).flatMap((loadBalancer) => {
    const known = membersOf(input, loadBalancer);
    const pools = managedPools(input, loadBalancer, BOTH).map(({ family, pool }) => {
      const members =
        config.poolType === "nodeIP"
          ? ownNames(pool, desiredBackendPool({ config, nodes, known }, family).own)
          : compute && ownMachines({ config, nodes, compute, loadBalancer, known }, family);
      return { pool, members };
    });
    const ofServices = ownPoolsOn(input, loadBalancer).map(({ pool, fragment }) => ({
      pool,
      members: ownNames(pool, fragment.own),
    }));
    return [...pools, ...ofServices].map(
      ({ pool, members }) => [poolId(loadBalancer, pool).toLowerCase(), members ?? new Set<string>()] as const,
    );
  });
  return new Map(all);
}

/** What the nodes ask for, with the members that the brake keeps. */
export function brakedPool(
  input: PoolsInput,
  loadBalancer: LoadBalancer,
  { family, pool }: ManagedPool,
): BackendPoolFragment {
  const { config, nodes, brake } = input;
  const arranged = nodesOf(input, loadBalancer.name);
  const fragment = desiredBackendPool({ config, nodes, arranged, known: membersOf(input, loadBalancer) }, family);
  if (brake === undefined) return fragment;
  const { outcome } = mergeBackendPool(pool, [fragment]);
  if (outcome.kind !== "put") return fragment;
  const present = ownNames(pool, fragment.own);
  const staying = new Set((outcome.body.properties.loadBalancerBackendAddresses ?? []).map(lowerName));
  if (present.isSubsetOf(staying)) return fragment;
  const keep = withheldMembers(brake, {
    pool: poolId(loadBalancer, pool),
    present,
    wanted: staying.union(new Set(fragment.members.map(lowerName))),
    leaving: new Set(nodes.filter(mayGo(config, arranged)).map(({ metadata }) => metadata.name.toLowerCase())),
    services: countServicesOn(loadBalancerIndex(loadBalancer), pool.name),
  });
  return keep.size === 0 ? fragment : { ...fragment, keep };
}

/** Nodes that announce that they go, and those that belong to another load balancer and serve there. */
function mayGo(config: PoolsInput["config"], arranged: readonly Node[]): (node: Node) => boolean {
  const here = new Set(arranged);
  return (node) => isLeaving(node) || (config.loadBalancers.length > 0 && isEligible(node, config) && !here.has(node));
}
