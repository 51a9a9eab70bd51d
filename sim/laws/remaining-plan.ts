/**
 * What the controllers would still do, according to the core: the plan of every class on the current state. It is empty
 * once everything has settled. Services that cannot be served are listed as refusals.
 */
import type { KubeObject } from "../../sandbox/kubernetes/model/contract.ts";
import { reconcilePools } from "../../src/core/resources/reconcile-pools.ts";
import { serviceKey } from "../../src/core/model/kubernetes.ts";
import { planCluster } from "../../src/core/plan/plan-cluster.ts";
import type { AzureStep } from "../../src/core/steps.ts";
import type { PlannedStep } from "../../src/core/plan/render-plan.ts";
import { reconcileService } from "../../src/core/service/reconcile-service.ts";
import { RIVAL_CLASS } from "../actions/service-templates.ts";
import { observeCluster } from "../environment/observe-cluster.ts";
import type { Simulation } from "../environment/simulation.ts";
import { lastName, partsOf } from "./azure-state.ts";

/** Services that the core refuses: key → reason. */
type Refusals = ReadonlyMap<string, string>;

export interface RemainingPlan {
  readonly steps: readonly string[];
  readonly refusals: Refusals;
  /** Keys of those that are refused only once what the plan writes for others is there, which Azure may refuse. */
  readonly predicted: ReadonlySet<string>;
  /** Keys of Services that Azure refuses: their steps are not counted. */
  readonly failing: ReadonlySet<string>;
  /** How many writes would fill pools that no rule uses: a restart may make them, if no Service does before. */
  readonly fillings: number;
}

export function remainingPlan(simulation: Simulation, failing: ReadonlySet<string>): RemainingPlan {
  const steps: string[] = [];
  let fillings = 0;
  const refusals = new Map<string, string>();
  const predicted = new Set<string>();
  for (const classFilter of simulation.setup.hasRival ? [undefined, RIVAL_CLASS] : [undefined]) {
    const observation = observeCluster(simulation, classFilter);
    const observed = observation.services.map((service) => observation.observe(service));
    const plan = planCluster(observed);
    const isDue = ({ owners, predicted: isPredicted }: PlannedStep): boolean =>
      !isPredicted && (owners.length === 0 || owners.some((owner) => !failing.has(owner)));
    steps.push(...plan.steps.filter(isDue).map(({ verb, id, why }) => `${verb} ${lastName(id)}: ${why}`));
    for (const [key, end] of plan.ends) if (end.kind === "reject") refusals.set(key, end.rejection.reason);
    for (const one of observed) {
      const key = serviceKey(one.service);
      const now = reconcileService(one);
      if (refusals.has(key) && now.kind !== "reject") predicted.add(key);
      // the plan goes on as if Azure took what it refuses others: what they hold stays theirs, and refuses this one now
      if (now.kind === "reject" && (failing.size > 0 || refusals.has(key))) refusals.set(key, now.rejection.reason);
    }
    if (classFilter !== undefined) continue;
    const pools = reconcilePools(observation.pools);
    const due = pools.filter((step) => !fillsUnusedPools(simulation, step));
    steps.push(...due.map(({ kind, id, why }) => `${kind} ${lastName(id)}: ${why}`));
    fillings = pools.length - due.length;
  }
  return { steps, refusals, predicted, failing, fillings };
}

/** A pool that no rule uses is filled by the next Service that does, also by its machines, which join one by one. */
function fillsUnusedPools(simulation: Simulation, step: AzureStep): boolean {
  if (step.kind === "backendPool") return !isInUse(simulation, step.id);
  if (step.kind !== "nicPools") return false;
  const { join, leave } = step.fragment;
  return leave.length === 0 && join.every(({ pool }) => !isInUse(simulation, pool));
}

function isInUse({ azure }: Simulation, pool: string): boolean {
  const [loadBalancer = ""] = pool.toLowerCase().split("/backendaddresspools/");
  const found = azure.state.resources.get(loadBalancer);
  const rules = found === undefined ? [] : partsOf(found, "loadBalancingRules");
  return rules.some((rule) => JSON.stringify(rule).toLowerCase().includes(`${pool.toLowerCase()}"`));
}

/** Keys of Services whose last sync failed after that revision, according to their events. */
export function failingSince({ cluster }: Simulation, revision: number): Set<string> {
  const events = eventsOfServices(cluster).filter(({ reason }) => reason === "SyncLoadBalancerFailed");
  // compares revisions, not times: the clocks of processes may be wrong
  return new Set(events.filter((event) => revisionOf(event) > revision).map(keyOf));
}

/**
 * Keys of Services that Azure refuses what they ask for, as an event since they were last served says. A failure that
 * passes is no such refusal, and takes none back.
 */
export function refusedByAzure({ cluster }: Simulation): Set<string> {
  const servedAt = new Map<string, number>();
  const refusedAt = new Map<string, number>();
  for (const event of eventsOfServices(cluster)) {
    const at = isRefusal(event) ? refusedAt : event["reason"] === "EnsuredLoadBalancer" ? servedAt : undefined;
    at?.set(keyOf(event), Math.max(at.get(keyOf(event)) ?? 0, revisionOf(event)));
  }
  return new Set([...refusedAt].flatMap(([key, at]) => (at > (servedAt.get(key) ?? 0) ? key : [])));
}

/** About Services that there are: a namesake that is gone was not the same one, and asked for something else. */
function eventsOfServices(cluster: Simulation["cluster"]): KubeObject[] {
  const uids = new Set(cluster.objects("services").map(({ metadata }) => metadata.uid));
  return cluster.objects("events").filter((event) => uids.has((event["involvedObject"] as { uid?: string }).uid));
}

function isRefusal(event: KubeObject): boolean {
  return event["reason"] === "SyncLoadBalancerFailed" && String(event["message"]).includes("Azure refused it");
}

function revisionOf({ metadata }: KubeObject): number {
  return Number(metadata.resourceVersion);
}

/** Of the object that an event is about. */
function keyOf(event: KubeObject): string {
  const { namespace, name } = event["involvedObject"] as { readonly namespace: string; readonly name: string };
  return `${namespace}/${name}`;
}
