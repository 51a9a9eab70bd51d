/** What a group's status says after a look at it. */
import { withCondition, withoutCondition } from "./conditions.ts";
import { acceptanceOf, type LoadBalancerUse, parametersKey } from "./load-balancer-use.ts";
import type { Acceptance, BackendGroup, Condition, GroupStatus } from "./objects.ts";
import type { GroupActions } from "./reconcile-backend-group.ts";

export interface GroupLook {
  readonly group: BackendGroup;
  readonly actions: GroupActions;
  readonly registered: number;
  /** What the brake found: backends that the watch had lost and the API server has. */
  readonly disagreement: string | undefined;
  readonly nowMs: number;
}

export function groupStatus({ group, actions, registered, disagreement, nowMs }: GroupLook): GroupStatus {
  const loadBalancers = [...actions.uses].map(([name, use]) => acceptance(group, name, use));
  const accepted = withCondition(group.status.conditions, acceptedCondition(actions), nowMs);
  return {
    observedGeneration: group.metadata.generation,
    backends: actions.wanted,
    registeredBackends: registered,
    loadBalancers,
    conditions: heldCondition(accepted, disagreement, nowMs),
  };
}

/** Whom a driver has accepted stays accepted while it is draining or does not answer. */
function acceptance(group: BackendGroup, name: string, use: LoadBalancerUse): Acceptance {
  if (use.kind === "usable") return { name, accepted: true, parameters: parametersKey(group) };
  const before = use.kind === "held" ? acceptanceOf(group, name) : undefined;
  const { reason, message } = "reason" in use ? use : { reason: "NotAsked", message: "its driver was not asked yet" };
  return { ...before, name, accepted: before?.accepted ?? false, reason, message };
}

function acceptedCondition({ uses, problem }: GroupActions): Omit<Condition, "lastTransitionTime"> {
  const problems = [...uses.values()].flatMap((use) => ("reason" in use ? [use] : []));
  const all = problem === undefined ? problems : [problem, ...problems];
  const [first] = all;
  if (first === undefined) return { type: "Accepted", status: "True" };
  const message = all.map((each) => each.message).join("; ");
  return { type: "Accepted", status: "False", reason: first.reason, message };
}

function heldCondition(
  conditions: readonly Condition[],
  message: string | undefined,
  nowMs: number,
): readonly Condition[] {
  if (message === undefined) return withoutCondition(conditions, "Held");
  return withCondition(conditions, { type: "Held", status: "True", reason: "Disagreement", message }, nowMs);
}

export function sameStatus(one: GroupStatus, other: GroupStatus): boolean {
  return (
    one.observedGeneration === other.observedGeneration &&
    one.backends === other.backends &&
    one.registeredBackends === other.registeredBackends &&
    one.conditions === other.conditions &&
    JSON.stringify(one.loadBalancers) === JSON.stringify(other.loadBalancers)
  );
}
