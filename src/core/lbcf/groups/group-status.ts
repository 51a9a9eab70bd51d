/** A group's status and events after it was reconciled. */
import { deregistrationLimitMistake } from "./deregistration-limit.ts";
import type { JudgedPods } from "../drivers/driver-answers.ts";
import type { Problem, ProblemReason } from "./candidates.ts";
import { type ConditionUpdate, withCondition, withoutCondition } from "../objects/conditions.ts";
import { type EventReason, type EventText, eventText } from "../../events/event-reasons.ts";
import { acceptanceOf, type LoadBalancerUse, parametersKey } from "./load-balancer-use.ts";
import type { Acceptance, BackendGroup, Condition, GroupStatus } from "../objects/objects.ts";
import type { GroupActions } from "./reconcile-backend-group.ts";
import { deletionBlockOf } from "../load-balancers/reconcile-load-balancer-object.ts";

export interface GroupResult {
  readonly group: BackendGroup;
  readonly actions: GroupActions;
  readonly registered: number;
  /** Backends that are missing from the caches while the API server still has them. */
  readonly disagreement: string | undefined;
  /** `undefined` when no driver was asked. */
  readonly judged: JudgedPods | undefined;
  /** Records that could not be written. */
  readonly failed: Problem | undefined;
  readonly nowMs: number;
}

export function groupStatus(result: GroupResult): GroupStatus {
  const { group, actions, nowMs } = result;
  const updates: readonly (readonly [string, ConditionUpdate | undefined])[] = [
    ["Accepted", acceptedCondition(result)],
    ["Held", heldCondition(result)],
    ["Judged", judgedCondition(result)],
    ["Deletable", deletableCondition(group)],
  ];
  return {
    observedGeneration: group.metadata.generation,
    backends: actions.wanted,
    registeredBackends: result.registered,
    loadBalancers: [...actions.uses].map(([name, use]) => acceptance(group, name, use)),
    conditions: updates.reduce<readonly Condition[]>(
      (conditions, [type, each]) =>
        each === undefined ? withoutCondition(conditions, type) : withCondition(conditions, each, nowMs),
      group.status.conditions,
    ),
  };
}

/** What a driver has accepted stays accepted while the driver is draining or does not answer. */
function acceptance(group: BackendGroup, name: string, use: LoadBalancerUse): Acceptance {
  if (use.kind === "usable") return { name, accepted: true, parameters: parametersKey(group) };
  const before = use.kind === "held" ? acceptanceOf(group, name) : undefined;
  const { reason, message } = "reason" in use ? use : { reason: "NotAsked", message: "its driver was not asked yet" };
  return { ...before, name, accepted: before?.accepted ?? false, reason, message };
}

/** What keeps backends from being registered. */
function obstacles({ actions: { uses, problem }, failed }: GroupResult): readonly Problem[] {
  const ofLoadBalancers = [...uses.values()].flatMap((use) => ("reason" in use ? [use] : []));
  return [problem, failed, ...ofLoadBalancers].filter((each) => each !== undefined);
}

function acceptedCondition(result: GroupResult): ConditionUpdate {
  const all = obstacles(result);
  const [first] = all;
  if (first === undefined) return { type: "Accepted", status: "True" };
  const message = all.map((each) => each.message).join("; ");
  return { type: "Accepted", status: "False", reason: first.reason, message };
}

function heldCondition({ group, disagreement }: GroupResult): (ConditionUpdate & Problem) | undefined {
  if (disagreement !== undefined) {
    return { type: "Held", status: "True", reason: "Disagreement", message: disagreement };
  }
  const mistake = deregistrationLimitMistake(group.metadata);
  return mistake === undefined
    ? undefined
    : { type: "Held", status: "False", reason: "InvalidBrake", message: mistake };
}

/** Present only when the driver of `deregisterWebhook` did not answer. */
function judgedCondition({ group: { spec }, judged }: GroupResult): (ConditionUpdate & Problem) | undefined {
  if (judged?.kind !== "failed" || spec.deregister.policy !== "Webhook") return undefined;
  const { driver, onFailure } = spec.deregister;
  const message = `driver "${driver}" did not judge, so failurePolicy ${onFailure} decides: ${judged.message}`;
  return { type: "Judged", status: "False", reason: "WebhookFailed", message };
}

function deletableCondition(group: BackendGroup): ConditionUpdate | undefined {
  const hold = deletionBlockOf(group);
  return hold && { type: "Deletable", status: "False", ...hold };
}

/** As LBCF's events name it. */
function eventReason(reason: ProblemReason): EventReason {
  return reason === "LoadBalancerNotFound" || reason === "LoadBalancerUnknown" ? "GetLoadBalancerFailed" : reason;
}

/** One event per problem: only when no condition reports it yet. */
export function groupEvents(result: GroupResult): readonly EventText[] {
  const reported = result.group.status.conditions.map(({ message = "" }) => message);
  const others = [heldCondition(result), judgedCondition(result)].filter((each) => each !== undefined);
  return [...obstacles(result), ...others]
    .filter(({ message }) => !reported.some((text) => text.includes(message)))
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
