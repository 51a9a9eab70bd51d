/**
 * Replaces the members of one of the cluster's pools by members of the other type, network interfaces or addresses. Azure
 * mixes them in no pool, so a second pool serves meanwhile; no rule ever sends to an empty one. What comes next follows from
 * what is there, so a crash between any two writes is safe:
 *
 *   rules send to | the pool holds       | next
 *   --------------|----------------------|----------------------------------------------------------------
 *   the pool      | the other type       | create the second pool, fill it, then switch the rules to it
 *   the second    | the other type       | take these members out
 *   the second    | none, or some        | fill the pool, then switch the rules back
 *   the pool      | the configured type  | take the members out of the second pool, then delete it
 *
 * Where the config allows it, one action of Azure turns interfaces into addresses instead (`merge-backend-pool.ts`). Starts
 * only where the user accepted the change; that a private link service is in the way is told before, by `guard`.
 */
import type { BackendAddress, BackendPool, LoadBalancer } from "../model/arm.ts";
import { loadBalancerPartId, nameOfId } from "../model/ids.ts";
import { baseOf, isServiceBase, migrationPoolName } from "../model/names.ts";
import type { Rejection } from "../outcome.ts";
import {
  desiredBackendPool,
  isOwnEntry,
  isOwnReference,
  membersOf,
  type OwnEntries,
  ownEntries,
} from "./backend-pool/desired-backend-pool.ts";
import { holdsInterfaces, reconcileBackendPool } from "./backend-pool/merge-backend-pool.ts";
import { brakedPool } from "./braked-pools.ts";
import { CLUSTER, type LoadBalancerFragment, type PoolMigration } from "./load-balancer/fragment.ts";
import { loadBalancerIndex, poolNamesOf } from "./load-balancer/load-balancer-index.ts";
import { reconcileLoadBalancer } from "./load-balancer/merge-load-balancer.ts";
import { type ManagedPool, poolId, type PoolsInput } from "./managed-pools.ts";
import { desiredNicPools, leavingPools, ownIPConfigurations } from "./nic-pools/desired-nic-pools.ts";
import { ipConfigurationsOf } from "./nic-pools/predict-pool-members.ts";
import { reconcileNicPools } from "./nic-pools/reconcile-nic-pools.ts";
import { type Reconciled, SETTLED } from "./reconciled.ts";

type Step = Reconciled<"backendPool" | "nicPools" | "loadBalancer">;

/** A pool on its way, and what is needed to write it. */
interface Migration {
  readonly input: PoolsInput;
  readonly loadBalancer: LoadBalancer;
  readonly managed: ManagedPool;
  readonly second: BackendPool | undefined;
  readonly own: OwnEntries;
}

/** `undefined`: the pool has the configured type, and is filled as always. */
export function reconcileMigration(
  input: PoolsInput,
  loadBalancer: LoadBalancer,
  managed: ManagedPool,
): Step | undefined {
  const { config } = input;
  const second = loadBalancerIndex(loadBalancer).pools.get(migrationPoolName(managed.pool.name).toLowerCase());
  const isOther = holdsOther(input, loadBalancer, managed.pool);
  const isAway = loadBalancerIndex(loadBalancer).redirects.has(managed.pool.name.toLowerCase());
  if (second === undefined && !isOther) return leftByAzure(input, loadBalancer, managed);
  if (!config.migratesPools && (isOther || isAway)) {
    const isToldByMerge = second === undefined && config.poolType === "nodeIP";
    return isToldByMerge ? undefined : { kind: "reject", rejection: refuseUnasked(input, managed, second) };
  }
  const migration = { input, loadBalancer, managed, second, own: ownOf(input, loadBalancer) };
  if (second !== undefined) return next(migration, second, { isOther, isAway });
  if (config.poolType === "nodeIP" && config.migratesByAction) return byAction(migration);
  const refused = refuseForeignMembers(migration) ?? refuseForeignRules(migration);
  if (refused !== undefined) return { kind: "reject", rejection: refused };
  if (config.poolType === "nodeIPConfiguration" && input.compute === undefined) return SETTLED;
  const why = `a second pool for the migration of "${managed.pool.name}" to ${config.poolType}`;
  return write(migration, { pools: [migrationPoolName(managed.pool.name)], migration: {} }, why);
}

/** `isOther`: the pool holds members of the other type; `isAway`: rules send to the second pool. */
function next(
  migration: Migration,
  second: BackendPool,
  { isOther, isAway }: { readonly isOther: boolean; readonly isAway: boolean },
): Step {
  const { input, loadBalancer, managed, own } = migration;
  const { pool } = managed;
  if (isAway && isOther) {
    const emptied = empty(migration, pool);
    const refused = emptied.kind === "settled" ? refuseForeignMembers(migration) : undefined;
    return refused === undefined ? emptied : { kind: "reject", rejection: refused };
  }
  if (!isAway && isOther) {
    if (holdsOther(input, loadBalancer, second)) return empty(migration, second);
    const why = `rules switch to "${second.name}" while the members of "${pool.name}" are replaced`;
    return filled(migration, second, { switch: { from: pool.name, to: second.name } }, why);
  }
  const drops = { pools: [second.name], entries: own };
  if (isAway) {
    const why = `rules switch back to "${pool.name}", which holds ${input.config.poolType} members now`;
    return filled(migration, pool, { switch: { from: second.name, to: pool.name }, drops }, why);
  }
  const upkeep = fill(migration, pool);
  if (upkeep.kind !== "settled") return upkeep;
  const left = detach(migration, second);
  return left.kind === "settled"
    ? write(migration, { migration: { drops } }, `the migration of "${pool.name}" is over`)
    : left;
}

/** Fills the pool, then asks for the change; never while no member is in it. */
function filled(migration: Migration, pool: BackendPool, change: PoolMigration, why: string): Step {
  const filling = fill(migration, pool);
  if (filling.kind !== "settled") return filling;
  return hasMembers(migration, pool) ? write(migration, { migration: change }, why) : SETTLED;
}

function fill(migration: Migration, pool: BackendPool): Step {
  const { input, loadBalancer, managed } = migration;
  const { config, nodes, compute, repairs, brake } = input;
  if (config.poolType === "nodeIP") {
    const seen = asNamed(input, loadBalancer, pool);
    const fragment = brakedPool(input, loadBalancer, { family: managed.family, pool: seen });
    return reconcileBackendPool(poolId(loadBalancer, pool), seen, { ...fragment, pool: pool.name });
  }
  if (compute === undefined) return SETTLED;
  const known = membersOf(input, loadBalancer);
  const inSecondPools = pool !== managed.pool;
  const machines = { config, nodes, compute, loadBalancer, known, repairs, brake, inSecondPools };
  return reconcileNicPools(desiredNicPools(machines, [managed.family]), input);
}

function hasMembers({ input: { config, compute }, loadBalancer }: Migration, pool: BackendPool): boolean {
  if (config.poolType === "nodeIP") return (pool.properties.loadBalancerBackendAddresses ?? []).length > 0;
  return compute !== undefined && namesPool(compute, poolId(loadBalancer, pool));
}

/** Takes the members of the other type out. */
function empty(migration: Migration, pool: BackendPool): Step {
  const { input, loadBalancer, managed, own } = migration;
  const { config, nodes } = input;
  if (config.poolType === "nodeIP") return detach(migration, pool);
  const { virtualNetworkId } = desiredBackendPool({ config, nodes, known: [] }, managed.family);
  const nothing = { members: [], mayBeEmpty: true, leavesNetwork: true };
  const fragment = { pool: pool.name, family: managed.family, ...nothing, own, virtualNetworkId };
  return reconcileBackendPool(poolId(loadBalancer, pool), pool, fragment);
}

function detach({ input, loadBalancer, managed: { family } }: Migration, pool: BackendPool): Step {
  if (input.compute === undefined) return SETTLED;
  return reconcileNicPools(leavingPools(input.compute, [{ pool: poolId(loadBalancer, pool), family }]), input);
}

function byAction({ input, loadBalancer, managed }: Migration): Step {
  const fragment = { ...brakedPool(input, loadBalancer, managed), migrates: true };
  const result = reconcileBackendPool(poolId(loadBalancer, managed.pool), managed.pool, fragment);
  if (result.kind !== "act") return result;
  const why = `network interfaces of "${managed.pool.name}" become addresses`;
  return { ...result, steps: result.steps.map((step) => ({ ...step, why })) };
}

/** Models of scale sets that still name the pool after Azure's own migration: new instances would join it. */
function leftByAzure(input: PoolsInput, loadBalancer: LoadBalancer, { family, pool }: ManagedPool): Step | undefined {
  const { config, compute } = input;
  if (!config.migratesPools || config.poolType !== "nodeIP" || compute === undefined) return undefined;
  const left = reconcileNicPools(leavingPools(compute, [{ pool: poolId(loadBalancer, pool), family }]), input);
  return left.kind === "settled" ? undefined : left;
}

function write(
  { loadBalancer }: Migration,
  change: Partial<Pick<LoadBalancerFragment, "pools" | "migration">>,
  why: string,
): Step {
  const nothing = { frontends: [], probes: [], rules: [], pools: [], releases: [], disposable: undefined };
  const fragment = { owner: CLUSTER, shell: undefined, ...nothing, ...change };
  const result = reconcileLoadBalancer(loadBalancer.id, loadBalancer, fragment);
  return result.kind === "act" ? { ...result, steps: result.steps.map((step) => ({ ...step, why })) } : result;
}

function holdsOther(input: PoolsInput, loadBalancer: LoadBalancer, pool: BackendPool): boolean {
  const seen = asNamed(input, loadBalancer, pool);
  const entries = seen.properties.loadBalancerBackendAddresses ?? [];
  return input.config.poolType === "nodeIP" ? holdsInterfaces(seen) : entries.some(isAddress);
}

function isAddress({ properties }: BackendAddress): boolean {
  return properties.networkInterfaceIPConfiguration === undefined && properties.ipAddress !== undefined;
}

/** The pool without machines that have left it: they leave by writes of their own, which the pool shows when it is read. */
function asNamed({ compute }: PoolsInput, loadBalancer: LoadBalancer, pool: BackendPool): BackendPool {
  if (compute === undefined || !holdsInterfaces(pool)) return pool;
  const id = poolId(loadBalancer, pool).toLowerCase();
  const left = new Set<string>();
  for (const { id: configuration, pools } of ipConfigurationsOf(compute)) {
    if (!pools.includes(id)) left.add(configuration.toLowerCase());
  }
  const hasLeft = (reference: { readonly id: string } | undefined): boolean =>
    reference !== undefined && left.has(reference.id.toLowerCase());
  const { backendIPConfigurations = [], loadBalancerBackendAddresses = [], ...properties } = pool.properties;
  const members = backendIPConfigurations.filter((one) => !hasLeft(one));
  const entries = loadBalancerBackendAddresses.filter(
    (one) => !hasLeft(one.properties.networkInterfaceIPConfiguration),
  );
  return {
    ...pool,
    properties: {
      ...properties,
      ...(members.length > 0 && { backendIPConfigurations: members }),
      ...(entries.length > 0 && { loadBalancerBackendAddresses: entries }),
    },
  };
}

function namesPool(compute: NonNullable<PoolsInput["compute"]>, pool: string): boolean {
  for (const { pools } of ipConfigurationsOf(compute)) if (pools.includes(pool.toLowerCase())) return true;
  return false;
}

function ownOf(input: PoolsInput, loadBalancer: LoadBalancer): OwnEntries {
  const { config, nodes, compute } = input;
  const known = membersOf(input, loadBalancer);
  return ownEntries(nodes, known, compute && ownIPConfigurations({ config, nodes, compute, loadBalancer, known }));
}

function refuseUnasked({ config }: PoolsInput, { pool }: ManagedPool, second: BackendPool | undefined): Rejection {
  const state = second === undefined ? "holds addresses" : `is being migrated, by way of backend pool "${second.name}"`;
  const message =
    `backend pool "${pool.name}" ${state}, but loadBalancerBackendPoolConfigurationType is ${config.poolType}: start with ` +
    `--accept-change=pool-type to migrate it, or set the other type`;
  return { kind: "rejection", reason: "BackendPoolType", message };
}

/** Members of other clients cannot be replaced: the controller knows neither their interfaces nor their addresses. */
function refuseForeignMembers({ managed: { pool }, own }: Migration): Rejection | undefined {
  const { loadBalancerBackendAddresses = [], backendIPConfigurations = [] } = pool.properties;
  const foreign = [
    ...loadBalancerBackendAddresses.filter((entry) => !isOwnEntry(entry, own)).map(({ name }) => name),
    ...backendIPConfigurations.filter((reference) => !isOwnReference(reference, own)).map(({ id }) => nameOfId(id)),
  ];
  return refuseForeign(pool, "holds members that are not of this cluster's nodes", foreign);
}

/** They would send to an empty pool for a moment. */
function refuseForeignRules({ loadBalancer, managed: { pool } }: Migration): Rejection | undefined {
  const { loadBalancingRules = [], outboundRules = [], inboundNatRules = [] } = loadBalancer.properties;
  const id = loadBalancerPartId(loadBalancer.id, "backendAddressPools", pool.name).toLowerCase();
  const names = ({ properties }: { readonly properties: object }): boolean =>
    JSON.stringify(properties).toLowerCase().includes(`"${id}"`);
  const foreign = [
    ...loadBalancingRules.filter(
      (rule) => !isServiceBase(baseOf(rule.name)) && poolNamesOf(rule).includes(pool.name.toLowerCase()),
    ),
    ...[...outboundRules, ...inboundNatRules].filter(names),
  ];
  return refuseForeign(
    pool,
    "has rules that are no Service's",
    foreign.map(({ name }) => name),
  );
}

function refuseForeign(pool: BackendPool, what: string, names: readonly string[]): Rejection | undefined {
  if (names.length === 0) return undefined;
  const quoted = [...new Set(names)].map((name) => `"${name}"`).join(", ");
  const message =
    `backend pool "${pool.name}" ${what} (${quoted}), so it cannot be migrated: remove them first, or set ` +
    "loadBalancerBackendPoolConfigurationType back";
  return { kind: "rejection", reason: "BackendPoolType", message };
}
