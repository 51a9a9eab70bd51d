/**
 * The steps that give pools the nodes they should have: of one load balancer for a Service, of all load balancers for a
 * change of nodes. Either costs one step per pool (or per machine), never one per Service.
 *
 * Pools that the config calls pre-configured are filled by another tool, unless they are empty or the controller has
 * filled them before.
 */
import type { BackendPool, Family, LoadBalancer } from "../model/arm.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import { loadBalancerId, loadBalancerPartId, nameOfId, sameId } from "../model/ids.ts";
import type { Node } from "../model/kubernetes.ts";
import { loadBalancerIndex } from "./load-balancer/load-balancer-index.ts";
import { isManagedLoadBalancer, poolName } from "../model/names.ts";
import type { AzureStep } from "./azure-step.ts";
import type { Warning } from "../outcome.ts";
import type { Compute } from "../backends/compute.ts";
import { desiredBackendPool, isPreConfigured, membersOf } from "./backend-pool/desired-backend-pool.ts";
import { mergeBackendPool } from "./backend-pool/merge-backend-pool.ts";
import { reconcileBackendPool } from "./backend-pool/reconcile-backend-pool.ts";
import { absentModelPools, desiredNicPools } from "./nic-pools/desired-nic-pools.ts";
import { reconcileNicPools } from "./nic-pools/reconcile-nic-pools.ts";
import { type Reconciled, SETTLED, together } from "./reconciled.ts";
import { vmSetOf } from "../backends/machines.ts";

export interface PoolsInput {
  readonly config: ClusterConfig;
  readonly nodes: readonly Node[];
  readonly loadBalancers: readonly LoadBalancer[];
  /** By load balancer id in lower case: the durable member list. */
  readonly members: ReadonlyMap<string, readonly string[]>;
  readonly compute?: Compute;
  /** As of `desiredNicPools`. */
  readonly repairs?: boolean;
}

const BOTH: readonly Family[] = ["IPv4", "IPv6"];

/** For a change of nodes. A pool that cannot be filled is left as it is: an event on its Services says why. */
export function reconcilePools(input: PoolsInput): AzureStep[] {
  const { config, nodes, compute, loadBalancers } = input;
  const vmSets = config.sku === "basic" ? nodes.flatMap((node) => vmSetOf(node, compute) ?? []) : [];
  const isOurs = (name: string): boolean => isManagedLoadBalancer(name, config, vmSets);
  const results = loadBalancers
    .filter(({ name, properties }) => isOurs(name) && !isBeingDeleted(properties))
    .map((loadBalancer) => reconcilePoolsOf({ ...input, repairs: true }, loadBalancer, BOTH));
  const hasMachines = config.poolType === "nodeIPConfiguration" && compute !== undefined;
  const isOursById = (id: string): boolean => isOurs(nameOfId(id)) && sameId(id, loadBalancerId(config, nameOfId(id)));
  const left = hasMachines ? reconcileNicPools(absentModelPools({ compute, loadBalancers }, isOursById)) : SETTLED;
  return [...results, left].flatMap((result) => (result.kind === "act" ? result.steps : []));
}

/** For one load balancer. A family without a pool is skipped. */
export function reconcilePoolsOf(
  input: PoolsInput,
  loadBalancer: LoadBalancer,
  families: readonly Family[],
): Reconciled<"backendPool" | "nicPools"> {
  const { config, nodes, compute, repairs } = input;
  const known = membersOf(input, loadBalancer);
  const present = managedPools(input, loadBalancer, families);
  if (config.poolType === "nodeIPConfiguration") {
    if (compute === undefined) return SETTLED;
    const managed = present.map(({ family }) => family);
    return reconcileNicPools(desiredNicPools({ config, nodes, compute, loadBalancer, known, repairs }, managed));
  }
  const results = present.map(({ family, pool }) => {
    const id = pool.id ?? loadBalancerPartId(loadBalancer.id, "backendAddressPools", pool.name);
    return reconcileBackendPool(id, pool, desiredBackendPool({ config, nodes, known }, family));
  });
  return together(results);
}

/** Warnings about pools that stay as they are: their foreign entries. For pools of addresses. */
export function poolWarnings(
  input: PoolsInput,
  loadBalancer: LoadBalancer,
  families: readonly Family[],
): readonly Warning[] {
  const { config, nodes } = input;
  if (config.poolType === "nodeIPConfiguration") return [];
  const known = membersOf(input, loadBalancer);
  return managedPools(input, loadBalancer, families).flatMap(({ family, pool }) => {
    const [answer] = mergeBackendPool(pool, [desiredBackendPool({ config, nodes, known }, family)]).answers;
    return answer?.kind === "accepted" ? answer.warnings : [];
  });
}

function managedPools(
  input: PoolsInput,
  loadBalancer: LoadBalancer,
  families: readonly Family[],
): { readonly family: Family; readonly pool: BackendPool }[] {
  const { config } = input;
  const { pools } = loadBalancerIndex(loadBalancer);
  const known = membersOf(input, loadBalancer);
  return families.flatMap((family) => {
    const pool = pools.get(poolName(config.clusterName, family).toLowerCase());
    return pool !== undefined && isManaged(config, loadBalancer, pool, known) ? [{ family, pool }] : [];
  });
}

function isManaged(
  config: ClusterConfig,
  loadBalancer: LoadBalancer,
  { properties }: BackendPool,
  known: readonly string[],
): boolean {
  const { loadBalancerBackendAddresses = [], backendIPConfigurations = [] } = properties;
  const isEmpty = loadBalancerBackendAddresses.length + backendIPConfigurations.length === 0;
  return !isPreConfigured(config, loadBalancer.name) || isEmpty || known.length > 0;
}

/** Azure lists it until it is gone. A machine that joined one of its pools now would name what no longer exists. */
function isBeingDeleted({ provisioningState }: LoadBalancer["properties"]): boolean {
  return provisioningState === "Deleting";
}
