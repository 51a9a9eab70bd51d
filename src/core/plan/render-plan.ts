/**
 * A plan for people and for machines: what would be written where, for whom, why, and what that changes. The first
 * round is exactly what a controller would do now; later ones are predicted.
 */
import { serviceKey } from "../model/kubernetes.ts";
import type { Kind } from "../resources/azure-step.ts";
import { KINDS } from "../resources/kinds.ts";
import { CLUSTER } from "../resources/load-balancer/fragment.ts";
import type { AzureStep, ServiceStep, Step } from "../steps.ts";
import { type Difference, diff } from "./plan-diff.ts";
import { losses } from "./losses.ts";
import { predict } from "./predict.ts";
import { resourceText, withShortIds } from "./resource-text.ts";
import { isAzureStep } from "../service/rounds.ts";
import type { Observed } from "../observed.ts";
import { byResource, written, type WriteOf } from "./merged-writes.ts";

export interface PlannedStep {
  readonly verb: "create" | "update" | "delete" | "patch";
  /** ARM id, or `services/{namespace}/{name}`. */
  readonly id: string;
  /** Services on whose behalf, `namespace/name`; none where it is the cluster's own (pools). */
  readonly owners: readonly string[];
  /** Something goes that traffic may depend on: see `losses.ts`. */
  readonly destructive: boolean;
  readonly why: string;
  readonly diff: readonly Difference[];
  /** Rests on what earlier steps are expected to lead to. */
  readonly predicted: boolean;
}

/** The steps of one round. Those on one resource leave in one write and are one line. */
export function describeSteps(observed: Observed, steps: readonly Step[], predicted: boolean): PlannedStep[] {
  return [
    ...steps.filter((step) => !isAzureStep(step)).map((step) => describeService(observed, step, predicted)),
    ...byResource(steps.filter(isAzureStep)).map((write) => describeAzure(observed, write, predicted)),
  ];
}

function describeAzure<K extends Kind>(observed: Observed, write: WriteOf<K>, predicted: boolean): PlannedStep {
  const { ownerOf } = KINDS[write.kind];
  const { before, after } = written(observed, write);
  const changes = diff(before, after);
  const owners = new Set(
    ownerOf === undefined
      ? []
      : write.fragments.map((fragment) => ownerOf(fragment).key).filter((key) => key !== CLUSTER.key),
  );
  return {
    verb: after === undefined ? "delete" : before === undefined ? "create" : "update",
    id: write.id,
    owners: [...owners].sort(),
    destructive: after === undefined || losses(changes).length > 0,
    why: [...new Set(write.steps.map(({ why }) => why))].join("; "),
    diff: changes,
    predicted,
  };
}

function describeService(observed: Observed, step: ServiceStep, predicted: boolean): PlannedStep {
  const { service } = observed;
  const changes = diff(service, predict(observed, [step]).service);
  return {
    verb: "patch",
    id: `services/${serviceKey(service)}`,
    owners: [serviceKey(service)],
    destructive: losses(changes).length > 0,
    why: step.why,
    diff: changes,
    predicted,
  };
}

const MOST_DIFFERENCES = 5;

/**
 * What differs in resources that exist, for an event: `loadBalancingRules[a1-TCP-80].idleTimeoutInMinutes: 15 -> 4`, from
 * what is there to what is asked for. Empty where whole resources are missing: the steps say so.
 */
export function renderDifferences(observed: Observed, steps: readonly AzureStep[], home: string): string {
  const updates = byResource(steps)
    .map((write) => describeAzure(observed, write, false))
    .filter(({ verb }) => verb === "update");
  const lines = updates.flatMap((step) => step.diff.map((change) => differenceText(change, home)));
  const rest = lines.length - MOST_DIFFERENCES;
  return [...lines.slice(0, MOST_DIFFERENCES), ...(rest > 0 ? [`and ${rest} more`] : [])].join(", ");
}

function differenceText({ path, ...change }: Difference, home: string): string {
  const text = (value: unknown): string => short(withShortIds(JSON.stringify(value) ?? "nothing", home), 40);
  const at = path.replaceAll("properties.", "");
  if (!("before" in change)) return `${at}: missing`;
  return "after" in change ? `${at}: ${text(change.before)} -> ${text(change.after)}` : `${at}: to be removed`;
}

/** Destructive steps first, else in the order of the writes. `home`: the cluster's resource group, which goes without saying. */
export function renderPlan(steps: readonly PlannedStep[], home: string): string {
  if (steps.length === 0) return "Nothing to do.\n";
  const [destructive, others] = [steps.filter((step) => step.destructive), steps.filter((step) => !step.destructive)];
  return [...destructive, ...others].map((step) => renderStep(step, home)).join("\n");
}

export function renderStep(
  { verb, id, owners, destructive, why, diff: changes, predicted }: PlannedStep,
  home: string,
): string {
  const marks = [...(destructive ? ["DESTRUCTIVE"] : []), ...(predicted ? ["predicted"] : [])];
  const heading = `${verb} ${resourceText(id, home)}${marks.length > 0 ? ` [${marks.join(", ")}]` : ""}`;
  const told = new Set(`${heading} ${why}`.split(/[\s;,()]+/));
  const untold = owners.filter((owner) => !told.has(owner));
  const forWhom = untold.length > 0 ? ` (for ${untold.join(", ")})` : "";
  const lines = changes.filter(({ path }) => !TOLD.has(path)).map((change) => renderDifference(change, home));
  return [heading, `  ${why}${forWhom}`, ...lines, ""].join("\n");
}

/** By the heading, and by the path of a part. */
const TOLD = new Set(["id", "name"]);

function renderDifference({ path, ...change }: Difference, home: string): string {
  const text = (value: unknown): string => short(withShortIds(JSON.stringify(content(value)) ?? "nothing", home));
  if (!("before" in change)) return `  + ${path}: ${text(change.after)}`;
  if (!("after" in change)) return `  - ${path}: ${text(change.before)}`;
  return `  ~ ${path}: ${text(change.before)} -> ${text(change.after)}`;
}

/** Of a part that comes or goes whole, what its path does not say already. */
function content(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("properties" in value)) return value;
  const { properties, ...rest } = value;
  const more = Object.entries(rest).filter(([key]) => !TOLD.has(key));
  return more.length === 0 ? properties : { ...Object.fromEntries(more), properties };
}

const LONGEST = 120;

function short(text: string, longest = LONGEST): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
