/** Computes and renders `azlb plan` for a cluster or one Service, from one view of it. */
import {
  hashOf,
  isWithheld,
  linesOf,
  type WithheldService,
  type WithheldWrites,
} from "../core/brake/withheld-writes.ts";
import { nameOfId } from "../core/model/ids.ts";
import { serviceKey } from "../core/model/kubernetes.ts";
import type { ConfigurationChange } from "../core/guard/configuration-changes.ts";
import { planCluster, type ClusterPlan } from "../core/plan/plan-cluster.ts";
import { renderPlan, type PlannedStep } from "../core/plan/render-plan.ts";
import type { Observed } from "../core/observed.ts";
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
  readonly withheld: WithheldPlan;
}

/** What the brake would withhold; a write of it is released by the hash of all. */
interface WithheldPlan extends WithheldWrites {
  readonly hash: string;
}

export async function makePlan(view: ClusterView, only: string | undefined): Promise<Plan> {
  const services = view.services.filter((service) => only === undefined || serviceKey(service) === only);
  if (only !== undefined && services.length === 0) throw new NoSuchService(only, view.find(only));
  const { refused: changes, accepted } = await view.changes();
  const observed = await Promise.all(services.map((service) => view.observe(service)));
  const { steps, ends, withheld } = await planAmongAll(view, observed, accepted);
  const rejected = [...ends].flatMap(([service, { kind, ...end }]) =>
    kind === "reject" && "rejection" in end
      ? [{ service, reason: end.rejection.reason, message: end.rejection.message }]
      : [],
  );
  const hash = isWithheld(withheld) ? hashOf(linesOf(withheld)) : "";
  return { changes, steps, home: view.config.resourceGroup, rejected, withheld: { ...withheld, hash } };
}

/** The plan of some Services. The brake counts over all of them, which are looked at only where it may matter. */
async function planAmongAll(
  view: ClusterView,
  observed: readonly Observed[],
  accepted: ReadonlySet<string>,
): Promise<ClusterPlan> {
  const plan = planCluster(observed, accepted);
  if (plan.losses.length === 0 || observed.length === view.services.length) return plan;
  const all = await Promise.all(view.services.map((service) => view.observe(service)));
  const { withheld } = planCluster(all, accepted);
  if (withheld.services.length === 0) return { ...plan, withheld };
  return { ...planCluster(observed.map(withoutTolerance), accepted), withheld };
}

function withoutTolerance(observed: Observed): Observed {
  const { brake } = observed;
  return brake === undefined
    ? observed
    : { ...observed, brake: { ...brake, limits: { ...brake.limits, services: 0 } } };
}

/** What the brake withholds, if it withholds writes of this Service. */
export async function withheldWith(view: ClusterView, observed: Observed): Promise<WithheldService | undefined> {
  const { accepted } = await view.changes();
  const { withheld } = await planAmongAll(view, [observed], accepted);
  return withheld.services.find(({ service }) => service === serviceKey(observed.service));
}

export function renderPlanText({ changes, steps, home, rejected, withheld }: Plan): string {
  const stops = changes.map(({ message }) => `refused: ${message}\n`);
  const refusals = rejected.map(({ service, reason, message }) => `refused ${service}\n  ${reason}: ${message}\n`);
  const held = isWithheld(withheld) ? [renderWithheld(withheld)] : [];
  const isStopped = steps.length === 0 && refusals.length + held.length > 0;
  return [...stops, ...(isStopped ? [] : [renderPlan(steps, home)]), ...refusals, ...held].join("\n");
}

function renderWithheld({ services, members, hash }: WithheldPlan): string {
  return [
    "withheld by the brake: too much would be taken at once from Services that did not change",
    ...services.map(({ service, addresses }) => `  ${service} would lose ${addresses.join(", ")}`),
    ...members.map(
      ({ pool, members: names }) => `  pool "${nameOfId(pool)}" would lose ${names.map(nameOfId).join(", ")}`,
    ),
    `  if all of that is intended: azlb release-brake ${hash}`,
    "",
  ].join("\n");
}
