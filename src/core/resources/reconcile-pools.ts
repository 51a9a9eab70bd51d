/**
 * The steps that give pools the nodes they should have: of one load balancer for a Service, of all load balancers for a
 * change of nodes. Either costs one step per pool (or per machine), never one per Service. Which pools are the
 * controller's to fill is decided in `managed-pools.ts`, which members stay for now in `braked-pools.ts`.
 */
import type { WithheldMembers } from "../brake/withheld-writes.ts";
import type { Family, LoadBalancer } from "../model/arm.ts";
import { loadBalancerId, nameOfId, sameId } from "../model/ids.ts";
import type { Warning } from "../outcome.ts";
import { pluralize } from "../util/text.ts";
import type { AzureStep } from "./azure-step.ts";
import { desiredBackendPool, membersOf } from "./backend-pool/desired-backend-pool.ts";
import { mergeBackendPool, reconcileBackendPool } from "./backend-pool/merge-backend-pool.ts";
import { brakedPool, withheldIn } from "./braked-pools.ts";
import { BOTH, isManagedName, managedLoadBalancers, managedPools, poolId, type PoolsInput } from "./managed-pools.ts";
import { absentModelPools, desiredNicPools } from "./nic-pools/desired-nic-pools.ts";
import { reconcileNicPools } from "./nic-pools/reconcile-nic-pools.ts";
import { type Reconciled, SETTLED, together } from "./reconciled.ts";

const MOST_NAMES = 3;

/** For a change of nodes. A pool that cannot be filled is left as it is: an event on its Services says why. */
export function reconcilePools(input: PoolsInput): AzureStep[] {
  const { config, compute, loadBalancers } = input;
  const results = managedLoadBalancers(input).map((loadBalancer) =>
    reconcilePoolsOf({ ...input, repairs: true }, loadBalancer, BOTH),
  );
  const isOurs = isManagedName(input);
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
  const { config, nodes, compute, repairs, brake } = input;
  const known = membersOf(input, loadBalancer);
  const present = managedPools(input, loadBalancer, families);
  if (config.poolType === "nodeIPConfiguration") {
    if (compute === undefined) return SETTLED;
    const managed = present.map(({ family }) => family);
    return reconcileNicPools(desiredNicPools({ config, nodes, compute, loadBalancer, known, repairs, brake }, managed));
  }
  const results = present.map(({ family, pool }) =>
    reconcileBackendPool(poolId(loadBalancer, pool), pool, brakedPool(input, loadBalancer, { family, pool })),
  );
  return together(results);
}

/** Warnings about pools that stay as they are: what the brake keeps in them; and in pools of addresses, foreign entries. */
export function poolWarnings(
  input: PoolsInput,
  loadBalancer: LoadBalancer,
  families: readonly Family[],
): readonly Warning[] {
  const withheld = withheldIn(input, loadBalancer, families).map(withheldWarning);
  return [...withheld, ...foreignWarnings(input, loadBalancer, families)];
}

function withheldWarning({ pool, members }: WithheldMembers): Warning {
  const some = members.slice(0, MOST_NAMES).map(nameOfId).join(", ") + (members.length > MOST_NAMES ? ", …" : "");
  const message =
    `${pluralize(members.length, "member")} of backend pool "${nameOfId(pool)}" (${some}) would go at once, and stay for ` +
    "now: if their nodes are gone for good, or are to be left out, a cluster operator runs azlb plan and azlb release-brake";
  return { reason: "WriteWithheld", message };
}

function foreignWarnings(input: PoolsInput, loadBalancer: LoadBalancer, families: readonly Family[]): Warning[] {
  const { config, nodes } = input;
  if (config.poolType === "nodeIPConfiguration") return [];
  const known = membersOf(input, loadBalancer);
  return managedPools(input, loadBalancer, families).flatMap(({ family, pool }) => {
    const [answer] = mergeBackendPool(pool, [desiredBackendPool({ config, nodes, known }, family)]).answers;
    return answer?.kind === "accepted" ? answer.warnings : [];
  });
}
