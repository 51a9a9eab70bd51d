/**
 * What the controllers would still do, according to the core: the plan of every class on the current state. It is empty
 * once everything has settled. Services that cannot be served are listed as refusals.
 */
import { reconcilePools } from "../../src/core/resources/reconcile-pools.ts";
import { serviceKey } from "../../src/core/model/kubernetes.ts";
import { planCluster } from "../../src/core/plan/plan-cluster.ts";
import type { PlannedStep } from "../../src/core/plan/render-plan.ts";
import { RIVAL_CLASS } from "../actions/service-templates.ts";
import { observeCluster, UnreadableError } from "../environment/observe-cluster.ts";
import type { Simulation } from "../environment/simulation.ts";
import { lastName } from "./azure-state.ts";

/** Services that the core refuses: key → reason. */
type Refusals = ReadonlyMap<string, string>;

export interface RemainingPlan {
  readonly steps: readonly string[];
  readonly refusals: Refusals;
}

export function remainingPlan(simulation: Simulation): RemainingPlan {
  const steps: string[] = [];
  const refusals = new Map<string, string>();
  for (const classFilter of simulation.setup.hasRival ? [undefined, RIVAL_CLASS] : [undefined]) {
    const observation = observeCluster(simulation, classFilter);
    const observed = observation.services.flatMap((service) => {
      try {
        return observation.observe(service);
      } catch (error) {
        if (!(error instanceof UnreadableError)) throw error;
        refusals.set(serviceKey(service), error.message);
        return [];
      }
    });
    const plan = planCluster(observed);
    const failing = new Set(failingInAzure(simulation));
    const isDue = ({ owners, predicted }: PlannedStep): boolean =>
      !predicted && (owners.length === 0 || owners.some((owner) => !failing.has(owner)));
    steps.push(...plan.steps.filter(isDue).map(({ verb, id, why }) => `${verb} ${lastName(id)}: ${why}`));
    for (const [key, end] of plan.ends) if (end.kind === "reject") refusals.set(key, end.rejection.reason);
    if (classFilter === undefined)
      steps.push(...reconcilePools(observation.pools).map(({ kind, id, why }) => `${kind} ${lastName(id)}: ${why}`));
  }
  return { steps, refusals };
}

/** Keys of Services that Azure refuses, according to their events. */
export function failingInAzure(simulation: Simulation): string[] {
  return simulation.cluster.objects("events").flatMap((event) => {
    const { namespace, name } = event["involvedObject"] as { readonly namespace: string; readonly name: string };
    // compares revisions, not times: the clocks of processes may be wrong
    const isRecent = Number(event.metadata.resourceVersion) > simulation.restartRevision;
    return event["reason"] === "SyncLoadBalancerFailed" && isRecent ? `${namespace}/${name}` : [];
  });
}
