/**
 * The plan of a whole cluster: all Services decide at once, round by round, and what they want of one resource is one
 * line, as it will be one write. The first round is exact; later ones rest on what the earlier are expected to lead to.
 */
import { serviceKey } from "../model/kubernetes.ts";
import type { Decision, Step } from "../steps.ts";
import { predict } from "./predict.ts";
import { describeSteps, type PlannedStep } from "./render-plan.ts";
import { reconcileService } from "../service/reconcile-service.ts";
import { isAzureStep } from "../service/rounds.ts";
import type { Observed } from "../observed.ts";

export interface ClusterPlan {
  readonly steps: readonly PlannedStep[];
  /** How each Service's story ends, by `namespace/name`. */
  readonly ends: ReadonlyMap<string, Decision>;
}

/** More than any story has: one that does not end is a bug, and shows as one. */
const MOST_ROUNDS = 30;

/** One world per Service, all of the same moment, with every look answered. */
export function planCluster(worlds: readonly Observed[]): ClusterPlan {
  const steps: PlannedStep[] = [];
  let seen = withAllLooks(worlds);
  let decisions = seen.map(reconcileService);
  for (let round = 0; round < MOST_ROUNDS && decisions.some(({ kind }) => kind === "act"); round++) {
    const wanted = decisions.map((decision) => (decision.kind === "act" ? decision.steps : []));
    steps.push(...describeRound(seen, wanted, round > 0));
    seen = afterRound(seen, wanted);
    decisions = seen.map(reconcileService);
  }
  return { steps, ends: new Map(seen.map(({ service }, at) => [serviceKey(service), decisions[at]!])) };
}

/** What one Service had to look at, a later round shows to all: they go on in one world. */
function withAllLooks(worlds: readonly Observed[]): readonly Observed[] {
  const publicIPs = new Map(worlds.flatMap((world) => [...world.publicIPs]));
  const subnets = new Map(worlds.flatMap((world) => [...world.subnets]));
  const subnetNames = worlds.find((world) => world.subnetNames !== undefined)?.subnetNames;
  return worlds.map((world) => ({ ...world, publicIPs, subnets, ...(subnetNames && { subnetNames }) }));
}

function describeRound(
  worlds: readonly Observed[],
  wanted: readonly (readonly Step[])[],
  predicted: boolean,
): PlannedStep[] {
  const [anyWorld] = worlds;
  if (anyWorld === undefined) return [];
  const own = worlds.flatMap((world, at) =>
    describeSteps(world, wanted[at]?.filter((step) => !isAzureStep(step)) ?? [], predicted),
  );
  return [...own, ...describeSteps(anyWorld, wanted.flat().filter(isAzureStep), predicted)];
}

function afterRound(worlds: readonly Observed[], wanted: readonly (readonly Step[])[]): Observed[] {
  const [anyWorld] = worlds;
  if (anyWorld === undefined) return [];
  const azure = predict(anyWorld, wanted.flat().filter(isAzureStep));
  return worlds.map((world, at) => {
    const { service } = predict(world, wanted[at]?.filter((step) => !isAzureStep(step)) ?? []);
    return { ...azure, service };
  });
}
