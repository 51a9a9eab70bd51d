/**
 * The plan of a whole cluster: all Services decide at once, round by round, and what they want of one resource is one
 * line, as it will be one write. The first round is exact; later ones rest on what the earlier are expected to lead to.
 * Where more unchanged Services than the brake allows would lose an address, each stops before the round in which it would.
 */
import type { WithheldService, WithheldWrites } from "../brake/withheld-writes.ts";
import { withheldInPools } from "../resources/braked-pools.ts";
import { lostAddresses } from "./lost-addresses.ts";
import { serviceKey } from "../model/kubernetes.ts";
import type { Decision, Step } from "../steps.ts";
import { LISTED_KINDS } from "../resources/kinds.ts";
import { type Listed, listedOf } from "../resources/observed-azure.ts";
import { maskStep, placeholderAddresses } from "./known-after-apply.ts";
import { predict } from "./predict.ts";
import { describeSteps, type PlannedStep } from "./render-plan.ts";
import { reconcileService } from "../service/reconcile-service.ts";
import { isAzureStep } from "../service/rounds.ts";
import type { Observed } from "../observed.ts";

export interface ClusterPlan {
  readonly steps: readonly PlannedStep[];
  /** The last decision for each Service, by `namespace/name`. */
  readonly ends: ReadonlyMap<string, Decision>;
  /** What is expected to be seen of each Service at the end, with placeholders where Azure has not given a value yet. */
  readonly after: readonly Observed[];
  /** Addresses among these values; the steps have them replaced. */
  readonly placeholders: ReadonlySet<string>;
  /** Unchanged Services that would lose addresses, each as of the first round in which it would, withheld or not. */
  readonly losses: readonly WithheldService[];
  readonly withheld: WithheldWrites;
}

export interface ServicePlan {
  readonly steps: readonly PlannedStep[];
  /** The last decision: settled, rejected, or with something to wait for or to read. */
  readonly end: Decision;
}

/** More rounds than any Service needs: one that does not settle is a bug, and shows as one. */
const MOST_ROUNDS = 30;
const NONE: ReadonlySet<string> = new Set();

/**
 * One observation per Service, all of the same moment, with everything that was asked for read. `exempt`: keys of Services
 * whose addresses an operator lets go.
 */
export function planCluster(observations: readonly Observed[], exempt: ReadonlySet<string> = NONE): ClusterPlan {
  const [any] = observations;
  const members = any?.brake === undefined ? [] : withheldInPools(any);
  const plan = planRounds(observations, exempt, "goOn");
  if (any?.brake === undefined || plan.losses.length <= any.brake.limits.services)
    return { ...plan, withheld: { services: [], members } };
  return { ...planRounds(observations, exempt, "stop"), withheld: { services: plan.losses, members } };
}

/** `atLoss`: what a Service does before the round in which it would lose an address. */
function planRounds(
  observations: readonly Observed[],
  exempt: ReadonlySet<string>,
  atLoss: "goOn" | "stop",
): Omit<ClusterPlan, "withheld"> {
  const steps: PlannedStep[] = [];
  const losses = new Map<string, WithheldService>();
  const decide = (observed: Observed): Decision => {
    const decision = reconcileService(observed);
    const service = serviceKey(observed.service);
    if (decision.kind !== "act" || exempt.has(service)) return decision;
    const addresses = lostAddresses(observed, decision.steps);
    if (addresses.length === 0) return decision;
    if (!losses.has(service)) losses.set(service, { service, uid: observed.service.metadata.uid, addresses });
    return atLoss === "goOn" ? decision : { kind: "wait", why: "the brake withholds the write" };
  };
  let seen = withAllReads(observations);
  let decisions = seen.map(decide);
  for (let round = 0; round < MOST_ROUNDS && decisions.some(({ kind }) => kind === "act"); round++) {
    const wanted = decisions.map((decision) => (decision.kind === "act" ? decision.steps : []));
    steps.push(...describeRound(seen, wanted, round > 0));
    seen = afterRound(seen, wanted);
    decisions = seen.map(decide);
  }
  const ends = new Map(seen.map(({ service }, at) => [serviceKey(service), decisions[at]!]));
  const addresses = placeholderAddresses(observations, seen);
  const shown = steps.map((step) => maskStep(step, { addresses }));
  return { steps: shown, ends, after: seen, placeholders: addresses, losses: [...losses.values()] };
}

/** The plan of one Service alone. */
export function planService(observed: Observed): ServicePlan {
  const { steps, ends } = planCluster([observed]);
  return { steps, end: ends.get(serviceKey(observed.service))! };
}

/** What was read for one Service is shown to all in later rounds: from there on they share one Azure. */
function withAllReads(observations: readonly Observed[]): readonly Observed[] {
  const listed = LISTED_KINDS.reduce<Listed>((all, kind) => {
    const groups = new Map(observations.flatMap((observed) => [...listedOf(observed, kind)]));
    return { ...all, [kind]: groups };
  }, {});
  const missingGroups = new Set(observations.flatMap((observed) => [...(observed.missingGroups ?? [])]));
  const subnets = new Map(observations.flatMap((observed) => [...observed.subnets]));
  const subnetNames = observations.find((observed) => observed.subnetNames !== undefined)?.subnetNames;
  const missingNetwork = observations.find((observed) => observed.missingNetwork !== undefined)?.missingNetwork;
  return observations.map((observed) => ({
    ...observed,
    listed,
    missingGroups,
    subnets,
    ...(subnetNames && { subnetNames }),
    ...(missingNetwork && { missingNetwork }),
  }));
}

function describeRound(
  observations: readonly Observed[],
  wanted: readonly (readonly Step[])[],
  predicted: boolean,
): PlannedStep[] {
  const [any] = observations;
  if (any === undefined) return [];
  const own = observations.flatMap((observed, at) =>
    describeSteps(observed, wanted[at]?.filter((step) => !isAzureStep(step)) ?? [], predicted),
  );
  return [...own, ...describeSteps(any, wanted.flat().filter(isAzureStep), predicted)];
}

function afterRound(observations: readonly Observed[], wanted: readonly (readonly Step[])[]): Observed[] {
  const [any] = observations;
  if (any === undefined) return [];
  const azure = predict(any, wanted.flat().filter(isAzureStep));
  return observations.map((observed, at) => {
    const { service } = predict(observed, wanted[at]?.filter((step) => !isAzureStep(step)) ?? []);
    return { ...azure, service };
  });
}
