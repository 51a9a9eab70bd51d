/** A LoadBalancer's status, and the event to send, after a driver's answer. */
import type { EventText } from "../../events/event-reasons.ts";
import { withCondition, withoutCondition, type ConditionUpdate } from "../objects/conditions.ts";
import {
  type Answer,
  type CreatedLoadBalancer,
  doneEvent,
  type LoadBalancerVerb,
  type UnfinishedAnswer,
  unfinishedEvent,
} from "../drivers/driver-answers.ts";
import type { LoadBalancer, LoadBalancerStatus } from "../objects/objects.ts";
import { isTrue } from "../objects/conditions.ts";

export interface LoadBalancerUpdate {
  readonly status: LoadBalancerStatus;
  readonly event: EventText | undefined;
}

export function markedCreating({ status }: LoadBalancer, nowMs: number): LoadBalancerStatus {
  const accepted = updated(status, { type: "Accepted", status: "True" }, nowMs);
  return updated(accepted, { type: "Created", status: "False", reason: "Creating" }, nowMs);
}

export function afterCreate(lb: LoadBalancer, answer: Answer<CreatedLoadBalancer>, nowMs: number): LoadBalancerUpdate {
  if (answer.status !== "Succ") return unfinished(lb, "createLoadBalancer", answer, nowMs);
  const { lbSpec, attributes } = lb.spec;
  const lbInfo = Object.keys(answer.lbInfo).length > 0 ? answer.lbInfo : lbSpec;
  const created = updated(
    { ...lb.status, lbInfo, lastSyncedAttributes: attributes },
    { type: "Created", status: "True" },
    nowMs,
  );
  return {
    status: updated(created, { type: "AttributesSynced", status: "True" }, nowMs),
    event: doneEvent("createLoadBalancer", "Successfully created load balancer"),
  };
}

/** A periodic success changes no status and sends no event. */
export function afterEnsureLoadBalancer(lb: LoadBalancer, answer: Answer, nowMs: number): LoadBalancerUpdate {
  if (answer.status !== "Succ") return unfinished(lb, "ensureLoadBalancer", answer, nowMs);
  const wasSynced = isTrue(lb.status.conditions, "AttributesSynced");
  const isSame = wasSynced && JSON.stringify(lb.status.lastSyncedAttributes) === JSON.stringify(lb.spec.attributes);
  if (isSame) return { status: lb.status, event: undefined };
  const accepted = updated(lb.status, { type: "Accepted", status: "True" }, nowMs);
  const synced = updated(
    { ...accepted, lastSyncedAttributes: lb.spec.attributes },
    { type: "AttributesSynced", status: "True" },
    nowMs,
  );
  return { status: synced, event: doneEvent("ensureLoadBalancer", "Successfully ensured load balancer") };
}

/** Success stores nothing: the caller removes the finalizer, and the object is gone. */
export function afterDeleteLoadBalancer(lb: LoadBalancer, answer: Answer, nowMs: number): LoadBalancerUpdate {
  if (answer.status === "Succ") return { status: lb.status, event: undefined };
  const { status, event } = { status: lb.status, event: unfinishedEvent("deleteLoadBalancer", answer) };
  if (answer.status === "Running") return { status, event };
  return {
    status: updated(
      status,
      { type: "Deletable", status: "False", reason: reasonOf(answer), message: answer.msg },
      nowMs,
    ),
    event,
  };
}

function unfinished(
  lb: LoadBalancer,
  verb: LoadBalancerVerb,
  answer: UnfinishedAnswer,
  nowMs: number,
): LoadBalancerUpdate {
  const event = unfinishedEvent(verb, answer);
  if (answer.status === "Running") return { status: lb.status, event };
  const type = verb === "createLoadBalancer" ? "Created" : "AttributesSynced";
  return {
    status: updated(lb.status, { type, status: "False", reason: reasonOf(answer), message: answer.msg }, nowMs),
    event,
  };
}

function reasonOf({ status }: UnfinishedAnswer): string {
  return status === "Fail" ? "OperationFailed" : "DriverError";
}

/** Reports what the object waits for. */
export function afterWaiting(lb: LoadBalancer, reason: string, message: string, nowMs: number): LoadBalancerStatus {
  const isDeleting = lb.metadata.deletionTimestamp !== undefined;
  const type = isDeleting ? "Deletable" : "Accepted";
  return updated(lb.status, { type, status: "False", reason, message }, nowMs);
}

/** Nothing blocks the object any more. */
export function withoutWait(lb: LoadBalancer, nowMs: number): LoadBalancerStatus {
  const isRefused = lb.status.conditions.some(({ type, status }) => type === "Accepted" && status === "False");
  return isRefused ? updated(lb.status, { type: "Accepted", status: "True" }, nowMs) : lb.status;
}

export function withDeletionBlock(
  lb: LoadBalancer,
  hold: { readonly reason: string; readonly message: string } | undefined,
  nowMs: number,
): LoadBalancerStatus {
  if (hold !== undefined) return updated(lb.status, { type: "Deletable", status: "False", ...hold }, nowMs);
  if (lb.metadata.deletionTimestamp !== undefined) return lb.status;
  const conditions = withoutCondition(lb.status.conditions, "Deletable");
  return conditions === lb.status.conditions ? lb.status : { ...lb.status, conditions };
}

function updated(status: LoadBalancerStatus, condition: ConditionUpdate, nowMs: number): LoadBalancerStatus {
  const conditions = withCondition(status.conditions, condition, nowMs);
  return conditions === status.conditions ? status : { ...status, conditions };
}
