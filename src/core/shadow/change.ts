/**
 * One change of the incumbent: what was predicted from the state before it, and how Azure compares with that at some moment.
 * When the change is over is `settling.ts`'s to say.
 */
import type { ClusterConfig } from "../config/cluster-config.ts";
import { type Node, type Service, serviceKey } from "../model/kubernetes.ts";
import { baseName } from "../model/names.ts";
import type { ClusterPlan } from "../plan/plan-cluster.ts";
import type { PlannedStep } from "../plan/render-plan.ts";
import { specFingerprint } from "../service/applied-state.ts";
import { type Finding, findingsOf, identityOf, without } from "./findings.ts";
import type { ChangeContext } from "./known-differences.ts";
import { ownerOfPart, type Owners, type Parts, partsOf } from "./parts.ts";
import type { Remembered } from "./remembered.ts";
import { judged, type JudgedFinding } from "./shadow-report.ts";

/** The last state in which nothing was under way. */
export interface StateBefore {
  readonly remembered: Remembered;
  readonly parts: Parts;
  /** Of everything that was read in Azure: equal texts, no write. */
  readonly versions: string;
  readonly nodes: readonly Node[];
  /** Identities of what azlb would have written in that state: no part of the change. */
  readonly standing: ReadonlySet<string>;
}

/** The cluster at present. */
export interface Present {
  readonly config: ClusterConfig;
  readonly services: readonly Service[];
  readonly nodes: readonly Node[];
}

/** A plan, and the Services as they were shown to it. */
export interface ShownPlan extends Pick<ClusterPlan, "steps" | "ends" | "after"> {
  readonly services: readonly Service[];
}

export interface Prediction<Plan extends ShownPlan = ShownPlan> {
  readonly plan: Plan;
  readonly parts: Parts;
  /** What the incumbent should write, beside what stands. */
  readonly expected: readonly Finding[];
  /** Equal for equal predictions. */
  readonly text: string;
}

export function predictionOf<Plan extends ShownPlan>(
  before: StateBefore,
  plan: Plan,
  present: Present,
): Prediction<Plan> {
  const [end] = plan.after;
  const parts = end === undefined ? before.parts : partsOf(end);
  const expected = wouldWrite(before, { plan, parts }, present).filter(
    (finding) => !before.standing.has(identityOf(finding)),
  );
  return { plan, parts, expected, text: JSON.stringify([azureWrites(plan), [...parts.keys()]]) };
}

/** What azlb would write in the state before the change. */
export function wouldWrite(
  before: Pick<StateBefore, "parts" | "remembered">,
  { plan, parts }: Pick<Prediction, "plan" | "parts">,
  present: Present,
): Finding[] {
  const writes = azureWrites(plan);
  const owners = ownersOf(before, present);
  return findingsOf({ before: before.parts, predicted: parts, after: before.parts, writes, owners });
}

export interface ComparedChange {
  /** Something is predicted, or has changed. */
  readonly isOpen: boolean;
  /** Nothing was written in Azure. */
  readonly isUntouched: boolean;
  /** Beside what stood before; empty: Azure is as predicted. */
  readonly findings: readonly JudgedFinding[];
  /** Services that it is about. */
  readonly concerned: ReadonlySet<string>;
}

/** `after`: what is there now, and what azlb would do with that. */
export function compareChange(
  before: StateBefore,
  prediction: Prediction,
  after: { readonly parts: Parts; readonly versions: string; readonly plan: ShownPlan },
  present: Present,
): ComparedChange {
  const owners = ownersOf(before, present);
  const writes = azureWrites(after.plan);
  const all = findingsOf({
    before: before.parts,
    predicted: prediction.parts,
    after: after.parts,
    writes,
    owners,
  });
  const findings = all.filter((finding) => !before.standing.has(identityOf(finding)));
  const moved = [...without(after.parts, before.parts), ...without(before.parts, after.parts)]
    .map((part) => ownerOfPart(part, owners))
    .filter((owner) => owner.isOwn);
  const isUntouched = after.versions === before.versions;
  // the incumbent has written what stood
  const isCaughtUp = !isUntouched && all.length - findings.length < before.standing.size;
  const concerned = new Set([
    ...changedServices(before, prediction.plan.services),
    ...findings.flatMap(({ service }) => service ?? []),
    ...moved.flatMap(({ service }) => service ?? []),
  ]);
  const context = contextOf(before, [prediction.plan, after.plan], present);
  return {
    isOpen: findings.length > 0 || moved.length > 0 || prediction.expected.length > 0 || isCaughtUp,
    isUntouched,
    findings: judged(findings, { ...context, concerned, isUntouched }),
    concerned,
  };
}

/** Keys of the Services that ask for something else than before, are new, or go. */
export function changedServices(
  { remembered }: Pick<StateBefore, "remembered">,
  services: readonly Service[],
): string[] {
  const isChanged = (service: Service): boolean => {
    const before = remembered.get(service.metadata.uid);
    if (before === undefined) return service.spec.type === "LoadBalancer";
    const isLeaving = service.metadata.deletionTimestamp !== before.metadata.deletionTimestamp;
    return isLeaving || specFingerprint(service) !== specFingerprint(before);
  };
  return services.filter(isChanged).map(serviceKey);
}

export function contextOf(
  before: Pick<StateBefore, "nodes">,
  plans: readonly [ShownPlan, ...ShownPlan[]],
  { config, nodes }: Present,
): Omit<ChangeContext, "concerned" | "isUntouched"> {
  const refused = plans.flatMap(({ ends }) => [...ends].flatMap(([key, { kind }]) => (kind === "reject" ? key : [])));
  const names = [...before.nodes, ...nodes].map(({ metadata }) => metadata.name.toLowerCase());
  return { config, services: plans[0].services, refused: new Set(refused), nodes: new Set(names) };
}

/** Told by names: the Services that there are, and those that were before the change. */
function ownersOf({ remembered }: Pick<StateBefore, "remembered">, { config, services }: Present): Owners {
  const all = [...remembered.values(), ...services];
  return { config, services: new Map(all.map((one) => [baseName(one.metadata.uid).toLowerCase(), serviceKey(one)])) };
}

function azureWrites({ steps }: Pick<ShownPlan, "steps">): readonly PlannedStep[] {
  return steps.filter(({ verb }) => verb !== "patch");
}
