/** Computes and renders `azlb plan` for a cluster or one Service, from one view of it. */
import { hashOf, isWithheld, linesOf, type WithheldService } from "../core/brake/withheld-writes.ts";
import { serviceKey } from "../core/model/kubernetes.ts";
import type { ConfigurationChange } from "../core/guard/configuration-changes.ts";
import type { DriftPolicy } from "../core/intent/service-intent.ts";
import { maskStep, maskText } from "../core/plan/known-after-apply.ts";
import { isLeftDrift } from "../core/plan/left-drift.ts";
import { planCluster, type ClusterPlan } from "../core/plan/plan-cluster.ts";
import { reportPlan, type PlanReport, type ServiceEntry, type Unreadable } from "../core/plan/plan-report.ts";
import { renderPlan, type PlannedStep } from "../core/plan/render-plan.ts";
import { renderReport } from "../core/plan/render-report.ts";
import { soundObservations } from "../core/plan/sound-observations.ts";
import type { Observed } from "../core/observed.ts";
import type { Rejection } from "../core/outcome.ts";
import type { ClusterView } from "./cluster-view.ts";
import { NoSuchService } from "./no-such-service.ts";
import { renderWithheld, type WithheldPlan } from "./render-withheld.ts";
import { lookFailureText } from "./view-failures.ts";

export interface Plan {
  /** Settings that differ from what published Services have in Azure: the controller would not take a single step. */
  readonly changes: readonly ConfigurationChange[];
  readonly steps: readonly PlannedStep[];
  /** The cluster's resource group. */
  readonly home: string;
  /** Services that are refused. */
  readonly rejected: readonly ({ readonly service: string } & Omit<Rejection, "kind">)[];
  /** Services that could not be looked at. */
  readonly unreadable: readonly Unreadable[];
  /** Steps that the drift policy does not take. */
  readonly drift: readonly PlannedStep[];
  readonly withheld: WithheldPlan;
  readonly report: PlanReport;
}

export interface PlanOptions {
  /** As the controller has it; absent: every difference is a step. */
  readonly driftPolicy?: DriftPolicy;
  /** Services of this namespace alone; absent: of all. */
  readonly namespace?: string;
  readonly onProgress?: (text: string) => void;
}

export async function makePlan(
  view: ClusterView,
  only: string | undefined,
  { driftPolicy = "enforce", namespace, onProgress = () => {} }: PlanOptions = {},
): Promise<Plan> {
  const services = view.services.filter(
    (service) =>
      (only === undefined || serviceKey(service) === only) &&
      (namespace === undefined || service.metadata.namespace === namespace),
  );
  if (only !== undefined && services.length === 0) throw new NoSuchService(only, view.find(only));
  const { refused: changes, accepted } = await view.changes();
  const { observed, unreadable } = await lookAt(view, services, onProgress);
  const left = observed.filter((one) => isLeftDrift(one, driftPolicy));
  const written = observed.filter((one) => !left.includes(one));
  const all = services.length === view.services.length ? undefined : () => lookAtWritten(view, driftPolicy, onProgress);
  const { before, plan, failed } = await planSound(written, (sound) => planAmongAll(sound, accepted, all));
  const repairs = await planSound(left, async (sound) => planCluster(sound, accepted));
  const drift = { services: repairs.before, steps: repairs.plan.steps };
  const lost = [...unreadable, ...failed, ...repairs.failed];
  const report = reportPlan({ ...plan, before, unreadable: lost, drift });
  const mask = (step: PlannedStep): PlannedStep => maskStep(step, { addresses: new Set(), ...view.unallocated });
  return {
    changes,
    steps: plan.steps.map(mask),
    home: view.config.resourceGroup,
    rejected: rejectedIn(plan),
    unreadable: lost,
    drift: drift.steps.map(mask),
    withheld: { ...plan.withheld, hash: isWithheld(plan.withheld) ? hashOf(linesOf(plan.withheld)) : "" },
    report: { ...report, entries: report.entries.map((entry) => maskEntry(entry, view)) },
  };
}

function maskEntry({ message, ...entry }: ServiceEntry, { unallocated }: ClusterView): ServiceEntry {
  if (message === undefined) return entry;
  return { ...entry, message: maskText(message, { addresses: new Set(), ...unallocated }) };
}

interface Looks {
  readonly observed: readonly Observed[];
  readonly unreadable: readonly Unreadable[];
}

async function lookAt(
  view: ClusterView,
  services: ClusterView["services"],
  onProgress: (text: string) => void,
): Promise<Looks> {
  const unreadable: Unreadable[] = [];
  let looked = 0;
  const looks = services.map(async (service): Promise<Observed[]> => {
    try {
      return [await view.observe(service)];
    } catch (error) {
      unreadable.push({ service: serviceKey(service), message: lookFailureText(error) });
      return [];
    } finally {
      onProgress(`looking at Services in Azure: ${++looked} of ${services.length}`);
    }
  });
  return { observed: (await Promise.all(looks)).flat(), unreadable };
}

/** All Services but those that the drift policy leaves as they are. */
async function lookAtWritten(
  view: ClusterView,
  driftPolicy: DriftPolicy,
  onProgress: (text: string) => void = () => {},
): Promise<readonly Observed[]> {
  const { observed } = await lookAt(view, view.services, onProgress);
  return observed.filter((one) => !isLeftDrift(one, driftPolicy));
}

interface SoundPlan {
  readonly before: readonly Observed[];
  readonly plan: ClusterPlan;
  readonly failed: readonly Unreadable[];
}

/** The plan of all Services; where it cannot be made, of those whose own plan can. */
async function planSound(
  observed: readonly Observed[],
  makeOf: (observed: readonly Observed[]) => Promise<ClusterPlan>,
): Promise<SoundPlan> {
  try {
    return { before: observed, plan: await makeOf(observed), failed: [] };
  } catch (error) {
    const { sound, failed } = soundObservations(observed);
    if (failed.length === 0) throw error;
    return { before: sound, plan: await makeOf(sound), failed };
  }
}

/** The plan of some Services. The brake counts over `all` of them, which are looked at only where it may matter. */
async function planAmongAll(
  observed: readonly Observed[],
  accepted: ReadonlySet<string>,
  all: (() => Promise<readonly Observed[]>) | undefined,
): Promise<ClusterPlan> {
  const plan = planCluster(observed, accepted);
  if (plan.losses.length === 0 || all === undefined) return plan;
  const { withheld } = planCluster(await all(), accepted);
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
export async function withheldWith(
  view: ClusterView,
  observed: Observed,
  { driftPolicy = "enforce" }: PlanOptions = {},
): Promise<WithheldService | undefined> {
  if (isLeftDrift(observed, driftPolicy)) return undefined;
  const { accepted } = await view.changes();
  const all = (): Promise<readonly Observed[]> => lookAtWritten(view, driftPolicy);
  const { withheld } = await planAmongAll([observed], accepted, all);
  return withheld.services.find(({ service }) => service === serviceKey(observed.service));
}

function rejectedIn({ ends }: ClusterPlan): Plan["rejected"] {
  return [...ends].flatMap(([service, { kind, ...end }]) =>
    kind === "reject" && "rejection" in end
      ? [{ service, reason: end.rejection.reason, message: end.rejection.message }]
      : [],
  );
}

/** One line for each Service, and a summary. */
export function renderPlanSummary({ changes, steps, home, report, withheld }: Plan): string {
  const held = renderWithheld(withheld);
  const isEmpty = held.length > 0 && report.entries.length === 0 && steps.length === 0;
  return [...stopsOf(changes), ...(isEmpty ? [] : [renderReport(report, steps, home)]), ...held].join("\n");
}

/** Every step with its differences. */
export function renderPlanText({ changes, steps, home, rejected, unreadable, drift, withheld }: Plan): string {
  const others = [
    ...rejected.map(({ service, reason, message }) => `refused ${service}\n  ${reason}: ${message}\n`),
    ...unreadable.map(({ service, message }) => `cannot be looked at: ${service}\n  ${message}\n`),
    ...(drift.length > 0 ? ["left as found by the drift policy; to repair it:\n", renderPlan(drift, home)] : []),
    ...renderWithheld(withheld),
  ];
  const isStopped = steps.length === 0 && others.length > 0;
  return [...stopsOf(changes), ...(isStopped ? [] : [renderPlan(steps, home)]), ...others].join("\n");
}

function stopsOf(changes: readonly ConfigurationChange[]): string[] {
  return changes.map(({ message }) => `refused: ${message}\n`);
}
