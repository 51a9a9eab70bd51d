/** Computes and renders `azlb plan` for a cluster or one Service, from one view of it. */
import { serviceKey } from "../core/model/kubernetes.ts";
import type { ConfigurationChange } from "../core/guard/configuration-changes.ts";
import { planCluster } from "../core/plan/plan-cluster.ts";
import { renderPlan, type PlannedStep } from "../core/plan/render-plan.ts";
import type { Rejection } from "../core/outcome.ts";
import type { ClusterView } from "./cluster-view.ts";
import { NoSuchService } from "./no-such-service.ts";

export interface Plan {
  /** Settings that differ from what published Services have in Azure: the controller would not take a single step. */
  readonly changes: readonly ConfigurationChange[];
  readonly steps: readonly PlannedStep[];
  /** The cluster's resource group. */
  readonly home: string;
  /** Services that are refused. */
  readonly rejected: readonly ({ readonly service: string } & Omit<Rejection, "kind">)[];
}

export async function makePlan(view: ClusterView, only: string | undefined): Promise<Plan> {
  const services = view.services.filter((service) => only === undefined || serviceKey(service) === only);
  if (only !== undefined && services.length === 0) throw new NoSuchService(only, view.find(only));
  const changes = await view.changes();
  const observed = await Promise.all(services.map((service) => view.observe(service)));
  const { steps, ends } = planCluster(observed);
  const rejected = [...ends].flatMap(([service, { kind, ...end }]) =>
    kind === "reject" && "rejection" in end
      ? [{ service, reason: end.rejection.reason, message: end.rejection.message }]
      : [],
  );
  return { changes, steps, home: view.config.resourceGroup, rejected };
}

export function renderPlanText({ changes, steps, home, rejected }: Plan): string {
  const stops = changes.map(({ message }) => `refused: ${message}\n`);
  const refusals = rejected.map(({ service, reason, message }) => `refused ${service}\n  ${reason}: ${message}\n`);
  const isRefusalAll = steps.length === 0 && refusals.length > 0;
  return [...stops, ...(isRefusalAll ? [] : [renderPlan(steps, home)]), ...refusals].join("\n");
}
