/**
 * The steps that give pools the nodes they should have: of one load balancer for a Service, of all load balancers for a
 * change of nodes or endpoints. Either costs one step per pool (or per machine), never one per Service. Which pools are the
 * controller's to fill is decided in `managed-pools.ts`, which members stay for now in `braked-pools.ts`.
 */
import type { WithheldMembers } from "../brake/withheld-writes.ts";
import type { BackendPool, Family, LoadBalancer } from "../model/arm.ts";
import { nameOfId } from "../model/ids.ts";
import { migrationPoolName } from "../model/names.ts";
import type { Warning } from "../outcome.ts";
import { pluralize } from "../util/text.ts";
import type { AzureStep, StepOf } from "./azure-step.ts";
import { nodesOf } from "./backend-pool/arranged-nodes.ts";
import { desiredBackendPool, membersOf } from "./backend-pool/desired-backend-pool.ts";
import type { BackendPoolFragment } from "./backend-pool/fragment.ts";
import { mergeBackendPool, reconcileBackendPool } from "./backend-pool/merge-backend-pool.ts";
import { brakedOwnPools, type OwnPoolOn, withheldInOwnPools } from "./braked-own-pools.ts";
import { brakedPool, withheldIn } from "./braked-pools.ts";
import { loadBalancerIndex } from "./load-balancer/load-balancer-index.ts";
import {
  BOTH,
  managedLoadBalancers,
  type ManagedPool,
  managedPools,
  poolId,
  type PoolsInput,
} from "./managed-pools.ts";
import { reconcileMigration } from "./migrate-pools.ts";
import { absentModelPools } from "./nic-pools/absent-model-pools.ts";
import { desiredNicPools } from "./nic-pools/desired-nic-pools.ts";
import { isAttached } from "./nic-pools/merge-nic-pools.ts";
import { onePerResource, reconcileNicPools } from "./nic-pools/reconcile-nic-pools.ts";
import { type Reconciled, SETTLED, together } from "./reconciled.ts";

const MOST_NAMES = 3;

/** For a change of nodes or endpoints. A pool that cannot be filled is left as it is: an event on its Services says why. */
export function reconcilePools(input: PoolsInput): AzureStep[] {
  const results = managedLoadBalancers(input).flatMap((loadBalancer) => [
    reconcilePoolsOf({ ...input, repairs: true }, loadBalancer, BOTH),
    ...brakedOwnPools(input, loadBalancer).map((own) => reconcileOwnPool(loadBalancer, own)),
  ]);
  const hasMachines = input.config.poolType === "nodeIPConfiguration";
  const left = hasMachines ? reconcileNicPools(absentModelPools(input), input) : SETTLED;
  const steps = [...results, left].flatMap((result): readonly AzureStep[] =>
    result.kind === "act" ? result.steps : [],
  );
  const isOfMachine = (step: AzureStep): step is StepOf<"nicPools"> => step.kind === "nicPools";
  return [...steps.filter((step) => !isOfMachine(step)), ...onePerResource(steps.filter(isOfMachine))];
}

/** Names that the member list of a pool lacks. */
interface UnrecordedNames {
  /** The pool's. */
  readonly id: string;
  readonly names: readonly string[];
}

/**
 * Pools that a scale set's model names get new instances from Azure itself, without a write of the controller that would
 * record them. `departed`: names of nodes that went since the last look.
 */
export function unrecordedNames(input: PoolsInput, departed: Iterable<string>): UnrecordedNames[] {
  const { config, nodes, compute } = input;
  if (config.poolType !== "nodeIPConfiguration" || compute === undefined) return [];
  const models = [...compute.scaleSets.values()];
  const present = [...new Set([...nodes.map(({ metadata }) => metadata.name), ...departed])];
  return managedLoadBalancers(input).flatMap((loadBalancer) => {
    const known = new Set(membersOf(input, loadBalancer));
    const names = present.filter((name) => !known.has(name));
    const pools = managedPools(input, loadBalancer, BOTH).map(({ pool }) => poolId(loadBalancer, pool));
    const id = pools.find((pool) => models.some((model) => isAttached(model, "scaleSet", pool)));
    return id === undefined || names.length === 0 ? [] : [{ id, names }];
  });
}

/** The pool that a Service has for itself, in each of its families. */
export function reconcileOwnPools(
  input: PoolsInput,
  loadBalancer: LoadBalancer,
  key: string,
): Reconciled<"backendPool"> {
  return together(brakedOwnPools(input, loadBalancer, key).map((own) => reconcileOwnPool(loadBalancer, own)));
}

function reconcileOwnPool(loadBalancer: LoadBalancer, { pool, fragment }: OwnPoolOn): Reconciled<"backendPool"> {
  return reconcileBackendPool(poolId(loadBalancer, pool), pool, fragment);
}

/** The cluster's pools of one load balancer. A family without a pool is skipped. */
export function reconcilePoolsOf(
  input: PoolsInput,
  loadBalancer: LoadBalancer,
  families: readonly Family[],
): Reconciled<"backendPool" | "nicPools" | "loadBalancer"> {
  const present = managedPools(input, loadBalancer, families);
  if (!mayMigrate(input, loadBalancer, present)) return reconcileMembers(input, loadBalancer, present);
  const migrations = new Map(present.map((managed) => [managed, reconcileMigration(input, loadBalancer, managed)]));
  const settled = present.filter((managed) => migrations.get(managed) === undefined);
  return together([
    reconcileMembers(input, loadBalancer, settled),
    ...[...migrations.values()].filter((migration) => migration !== undefined),
  ]);
}

/** Pools of addresses that are no part of a migration, configured or begun, are filled as always. */
function mayMigrate({ config }: PoolsInput, loadBalancer: LoadBalancer, present: readonly ManagedPool[]): boolean {
  const { pools } = loadBalancerIndex(loadBalancer);
  const hasSecond = ({ pool }: ManagedPool): boolean => pools.has(migrationPoolName(pool.name).toLowerCase());
  return config.migratesPools || config.poolType !== "nodeIP" || present.some(hasSecond);
}

/** Of pools that hold members of the configured type. */
function reconcileMembers(
  input: PoolsInput,
  loadBalancer: LoadBalancer,
  present: readonly ManagedPool[],
): Reconciled<"backendPool" | "nicPools"> {
  const { config, nodes, compute, repairs, brake } = input;
  if (config.poolType === "nodeIPConfiguration") {
    if (compute === undefined) return SETTLED;
    const known = membersOf(input, loadBalancer);
    const managed = present.map(({ family }) => family);
    const machines = { config, nodes, compute, loadBalancer, known, repairs, brake };
    return reconcileNicPools(desiredNicPools(machines, managed), input);
  }
  const results = present.map(({ family, pool }) =>
    reconcileBackendPool(poolId(loadBalancer, pool), pool, brakedPool(input, loadBalancer, { family, pool })),
  );
  return together(results);
}

/** The same as `poolWarnings`, about the pool that a Service has for itself. */
export function ownPoolWarnings(input: PoolsInput, loadBalancer: LoadBalancer, key: string): readonly Warning[] {
  const foreign = brakedOwnPools(input, loadBalancer, key).flatMap(({ pool, fragment }) =>
    foreignWarningsOf(pool, fragment),
  );
  return [...withheldInOwnPools(input, loadBalancer, key).map(withheldWarning), ...foreign];
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
  const arranged = nodesOf(input, loadBalancer.name);
  return managedPools(input, loadBalancer, families).flatMap(({ family, pool }) => {
    return foreignWarningsOf(pool, desiredBackendPool({ config, nodes, arranged, known }, family));
  });
}

function foreignWarningsOf(pool: BackendPool, fragment: BackendPoolFragment): readonly Warning[] {
  const [answer] = mergeBackendPool(pool, [fragment]).answers;
  return answer?.kind === "accepted" ? answer.warnings : [];
}
