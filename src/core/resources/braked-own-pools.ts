/**
 * The pools that Services have of their own, with the brake on them.
 *
 *   a member leaves because                            | that is
 *   ---------------------------------------------------|------------------------------------------------------
 *   its node is in service, without an endpoint        | the Service's own change: it never counts, and goes
 *   its node announced that it goes                    | as in all pools: it never counts, and goes
 *   its Node is gone, excluded or without an address   | no change of the Service, whatever its endpoints say: it counts
 *
 * Such pools are small, often of one node, so that a share of each alone says little: they are judged together, by
 * `brake/pool-brake.ts`.
 */
import { isLeaving, withheldTogether } from "../brake/pool-brake.ts";
import type { WithheldMembers } from "../brake/withheld-writes.ts";
import type { BackendPool, Family, LoadBalancer } from "../model/arm.ts";
import type { Node } from "../model/kubernetes.ts";
import { memo, memoAll } from "../util/memo.ts";
import {
  desiredBackendPool,
  desiredOwnPool,
  lowerName,
  membersOf,
  ownNames,
} from "./backend-pool/desired-backend-pool.ts";
import type { BackendPoolFragment } from "./backend-pool/fragment.ts";
import { endpointNodes, ownPools } from "./backend-pool/own-pools.ts";
import { loadBalancerIndex } from "./load-balancer/load-balancer-index.ts";
import { isManagedPool, managedLoadBalancers, poolId, type PoolsInput } from "./managed-pools.ts";

export interface OwnPoolOn {
  readonly pool: BackendPool;
  readonly family: Family;
  readonly fragment: BackendPoolFragment;
  /** `namespace/name` of the Services that it is for. */
  readonly services: readonly string[];
}

const NONE: ReadonlySet<string> = new Set();

/** Those of one load balancer: what their endpoints ask for, with the members that the brake keeps. */
export function brakedOwnPools(input: PoolsInput, loadBalancer: LoadBalancer, key?: string): OwnPoolOn[] {
  const all = ownPoolsOn(input, loadBalancer);
  const wanted = key === undefined ? all : all.filter(({ services }) => services.includes(key));
  return wanted.map((own) => {
    const keep = keptIn(input, loadBalancer, own);
    return keep.size === 0 ? own : { ...own, fragment: { ...own.fragment, keep } };
  });
}

/** What the brake keeps in the pools of one load balancer. */
export function withheldInOwnPools(input: PoolsInput, loadBalancer: LoadBalancer, key?: string): WithheldMembers[] {
  return brakedOwnPools(input, loadBalancer, key).flatMap(({ pool, fragment: { keep = NONE } }) =>
    keep.size === 0 ? [] : [{ pool: poolId(loadBalancer, pool).toLowerCase(), members: [...keep].sort() }],
  );
}

export function ownPoolsOn(input: PoolsInput, loadBalancer: LoadBalancer): OwnPoolOn[] {
  const { config, nodes, otherServices, endpointSlices } = input;
  if (otherServices === undefined || endpointSlices === undefined) return [];
  const known = membersOf(input, loadBalancer);
  const wanted = ownPools(config, otherServices);
  return [...loadBalancerIndex(loadBalancer).pools].flatMap(([name, pool]) => {
    const own = wanted.get(name);
    if (own === undefined || !isManagedPool(config, loadBalancer, known)) return [];
    const fragment = desiredOwnPool({ config, nodes, known }, own, endpointNodes(endpointSlices, own));
    return [{ pool, family: own.family, fragment, services: own.services }];
  });
}

/** The other pools are looked at only if this one has a member whose node is not in service. */
function keptIn(input: PoolsInput, loadBalancer: LoadBalancer, own: OwnPoolOn): ReadonlySet<string> {
  const { config, nodes, loadBalancers, members, otherServices, endpointSlices, brake } = input;
  if (brake === undefined || otherServices === undefined || endpointSlices === undefined) return NONE;
  const present = ownNames(own.pool, own.fragment.own);
  if (present.isSubsetOf(namesInService(input, own.family))) return NONE;
  const kept = keptInAll(config, nodes, loadBalancers, members, otherServices, endpointSlices, brake);
  return kept.get(poolId(loadBalancer, own.pool).toLowerCase()) ?? NONE;
}

/** By pool id in lower case; once for all Services that ask. */
const keptInAll = memoAll(
  (
    config: PoolsInput["config"],
    nodes: readonly Node[],
    loadBalancers: readonly LoadBalancer[],
    members: PoolsInput["members"],
    otherServices: NonNullable<PoolsInput["otherServices"]>,
    endpointSlices: NonNullable<PoolsInput["endpointSlices"]>,
    brake: NonNullable<PoolsInput["brake"]>,
  ): ReadonlyMap<string, ReadonlySet<string>> => {
    const input = { config, nodes, loadBalancers, members, otherServices, endpointSlices };
    const changes = managedLoadBalancers(input).flatMap((loadBalancer) =>
      ownPoolsOn(input, loadBalancer).map(({ pool, family, fragment, services }) => {
        const wanted = new Set(fragment.members.map(lowerName));
        const without = namesInService(input, family).difference(wanted);
        return {
          pool: poolId(loadBalancer, pool).toLowerCase(),
          present: ownNames(pool, fragment.own),
          wanted,
          leaving: namesLeaving(nodes).union(without),
          services,
        };
      }),
    );
    return withheldTogether(brake, changes);
  },
);

/** In lower case: nodes that pools of either family may hold. */
export function nodesInService(input: Pick<PoolsInput, "config" | "nodes">): ReadonlySet<string> {
  return namesInService(input, "IPv4").union(namesInService(input, "IPv6"));
}

/** In lower case: nodes that a pool of this family may hold. */
function namesInService({ config, nodes }: Pick<PoolsInput, "config" | "nodes">, family: Family): ReadonlySet<string> {
  return memberNames(desiredBackendPool({ config, nodes, known: NO_LIST }, family));
}

const NO_LIST: readonly string[] = [];

const memberNames = memo(({ members }: BackendPoolFragment): ReadonlySet<string> => new Set(members.map(lowerName)));

const namesLeaving = memo(
  (nodes: readonly Node[]): ReadonlySet<string> =>
    new Set(nodes.filter(isLeaving).map(({ metadata }) => metadata.name.toLowerCase())),
);
