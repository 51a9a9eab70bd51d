/** What a group's status says after a look at it, and what is told of it. */
import { brakeMistake } from "./deregistration-limit.ts";
import type { Judgement, Problem, ProblemReason } from "./candidates.ts";
import { type Said, withCondition, withoutCondition } from "../objects/conditions.ts";
import { type EventReason, type EventText, eventText } from "../../events/event-reasons.ts";
import { acceptanceOf, type LoadBalancerUse, parametersKey } from "./load-balancer-use.ts";
import type { Acceptance, BackendGroup, Condition, GroupStatus } from "../objects/objects.ts";
import type { GroupActions } from "./reconcile-backend-group.ts";
import { holdOf } from "../load-balancers/reconcile-load-balancer-object.ts";

export interface GroupLook {
  readonly group: BackendGroup;
  readonly actions: GroupActions;
  readonly registered: number;
  /** What the brake found: backends that the watch had lost and the API server has. */
  readonly disagreement: string | undefined;
  /** `undefined`: nobody was asked. */
  readonly judgement: Judgement | undefined;
  /** Records that could not be written. */
  readonly failed: Problem | undefined;
  readonly nowMs: number;
}

export function groupStatus(look: GroupLook): GroupStatus {
  const { group, actions, nowMs } = look;
  const said: readonly (readonly [string, Said | undefined])[] = [
    ["Accepted", acceptedCondition(look)],
    ["Held", heldCondition(look)],
    ["Judged", judgedCondition(look)],
    ["Deletable", deletableCondition(group)],
  ];
  return {
    observedGeneration: group.metadata.generation,
    backends: actions.wanted,
    registeredBackends: look.registered,
    loadBalancers: [...actions.uses].map(([name, use]) => acceptance(group, name, use)),
    conditions: said.reduce<readonly Condition[]>(
      (conditions, [type, each]) =>
        each === undefined ? withoutCondition(conditions, type) : withCondition(conditions, each, nowMs),
      group.status.conditions,
    ),
  };
}

/** Whom a driver has accepted stays accepted while it is draining or does not answer. */
function acceptance(group: BackendGroup, name: string, use: LoadBalancerUse): Acceptance {
  if (use.kind === "usable") return { name, accepted: true, parameters: parametersKey(group) };
  const before = use.kind === "held" ? acceptanceOf(group, name) : undefined;
  const { reason, message } = "reason" in use ? use : { reason: "NotAsked", message: "its driver was not asked yet" };
  return { ...before, name, accepted: before?.accepted ?? false, reason, message };
}

/** What keeps backends from being registered. */
function obstacles({ actions: { uses, problem }, failed }: GroupLook): readonly Problem[] {
  const ofLoadBalancers = [...uses.values()].flatMap((use) => ("reason" in use ? [use] : []));
  return [problem, failed, ...ofLoadBalancers].filter((each) => each !== undefined);
}

function acceptedCondition(look: GroupLook): Said {
  const all = obstacles(look);
  const [first] = all;
  if (first === undefined) return { type: "Accepted", status: "True" };
  const message = all.map((each) => each.message).join("; ");
  return { type: "Accepted", status: "False", reason: first.reason, message };
}

function heldCondition({ group, disagreement }: GroupLook): (Said & Problem) | undefined {
  if (disagreement !== undefined) {
    return { type: "Held", status: "True", reason: "Disagreement", message: disagreement };
  }
  const mistake = brakeMistake(group.metadata);
  return mistake === undefined
    ? undefined
    : { type: "Held", status: "False", reason: "InvalidBrake", message: mistake };
}

/** Only where the driver that should judge did not. */
function judgedCondition({ group: { spec }, judgement }: GroupLook): (Said & Problem) | undefined {
  if (judgement?.kind !== "failed" || spec.deregister.policy !== "Webhook") return undefined;
  const { driver, onFailure } = spec.deregister;
  const message = `driver "${driver}" did not judge, so failurePolicy ${onFailure} decides: ${judgement.message}`;
  return { type: "Judged", status: "False", reason: "WebhookFailed", message };
}

function deletableCondition(group: BackendGroup): Said | undefined {
  const hold = holdOf(group);
  return hold && { type: "Deletable", status: "False", ...hold };
}

/** As LBCF's events name it. */
function eventReason(reason: ProblemReason): EventReason {
  return reason === "LoadBalancerNotFound" || reason === "LoadBalancerUnknown" ? "GetLoadBalancerFailed" : reason;
}

/** Each problem once: when no condition has said it yet. */
export function groupTellings(look: GroupLook): readonly EventText[] {
  const said = look.group.status.conditions.map(({ message = "" }) => message);
  const others = [heldCondition(look), judgedCondition(look)].filter((each) => each !== undefined);
  return [...obstacles(look), ...others]
    .filter(({ message }) => !said.some((text) => text.includes(message)))
    .map(({ reason, message }) => eventText(eventReason(reason), message));
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
