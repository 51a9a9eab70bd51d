/** What a driver's answer makes of a LoadBalancer: the status to store, and what to tell. */
import type { EventText } from "../../events/event-reasons.ts";
import { withCondition, withoutCondition, type Said } from "../objects/conditions.ts";
import {
  type Answer,
  type Created,
  doneEvent,
  type LoadBalancerVerb,
  type NotYet,
  notYetEvent,
} from "../drivers/driver-answers.ts";
import type { LoadBalancer, LoadBalancerStatus } from "../objects/objects.ts";
import { isTrue } from "../objects/conditions.ts";

export interface LoadBalancerAfter {
  readonly status: LoadBalancerStatus;
  readonly event: EventText | undefined;
}

export function markedCreating({ status }: LoadBalancer, nowMs: number): LoadBalancerStatus {
  const accepted = said(status, { type: "Accepted", status: "True" }, nowMs);
  return said(accepted, { type: "Created", status: "False", reason: "Creating" }, nowMs);
}

export function afterCreate(lb: LoadBalancer, answer: Answer<Created>, nowMs: number): LoadBalancerAfter {
  if (answer.status !== "Succ") return notYet(lb, "createLoadBalancer", answer, nowMs);
  const { lbSpec, attributes } = lb.spec;
  const lbInfo = Object.keys(answer.lbInfo).length > 0 ? answer.lbInfo : lbSpec;
  const created = said(
    { ...lb.status, lbInfo, lastSyncedAttributes: attributes },
    { type: "Created", status: "True" },
    nowMs,
  );
  return {
    status: said(created, { type: "AttributesSynced", status: "True" }, nowMs),
    event: doneEvent("createLoadBalancer", "Successfully created load balancer"),
  };
}

/** Periodic successes change nothing and say nothing. */
export function afterEnsureLoadBalancer(lb: LoadBalancer, answer: Answer, nowMs: number): LoadBalancerAfter {
  if (answer.status !== "Succ") return notYet(lb, "ensureLoadBalancer", answer, nowMs);
  const wasSynced = isTrue(lb.status.conditions, "AttributesSynced");
  const isSame = wasSynced && JSON.stringify(lb.status.lastSyncedAttributes) === JSON.stringify(lb.spec.attributes);
  if (isSame) return { status: lb.status, event: undefined };
  const accepted = said(lb.status, { type: "Accepted", status: "True" }, nowMs);
  const synced = said(
    { ...accepted, lastSyncedAttributes: lb.spec.attributes },
    { type: "AttributesSynced", status: "True" },
    nowMs,
  );
  return { status: synced, event: doneEvent("ensureLoadBalancer", "Successfully ensured load balancer") };
}

/** Success stores nothing: the finalizer goes, and the object with it. */
export function afterDeleteLoadBalancer(lb: LoadBalancer, answer: Answer, nowMs: number): LoadBalancerAfter {
  if (answer.status === "Succ") return { status: lb.status, event: undefined };
  const { status, event } = { status: lb.status, event: notYetEvent("deleteLoadBalancer", answer) };
  if (answer.status === "Running") return { status, event };
  return {
    status: said(status, { type: "Deletable", status: "False", reason: reasonOf(answer), message: answer.msg }, nowMs),
    event,
  };
}

function notYet(lb: LoadBalancer, verb: LoadBalancerVerb, answer: NotYet, nowMs: number): LoadBalancerAfter {
  const event = notYetEvent(verb, answer);
  if (answer.status === "Running") return { status: lb.status, event };
  const type = verb === "createLoadBalancer" ? "Created" : "AttributesSynced";
  return {
    status: said(lb.status, { type, status: "False", reason: reasonOf(answer), message: answer.msg }, nowMs),
    event,
  };
}

function reasonOf({ status }: NotYet): string {
  return status === "Fail" ? "OperationFailed" : "DriverError";
}

/** What a wait says on the object. */
export function afterWaiting(lb: LoadBalancer, reason: string, message: string, nowMs: number): LoadBalancerStatus {
  const isDeleting = lb.metadata.deletionTimestamp !== undefined;
  const type = isDeleting ? "Deletable" : "Accepted";
  return said(lb.status, { type, status: "False", reason, message }, nowMs);
}

/** What stood in its way no longer does. */
export function withoutWait(lb: LoadBalancer, nowMs: number): LoadBalancerStatus {
  const isRefused = lb.status.conditions.some(({ type, status }) => type === "Accepted" && status === "False");
  return isRefused ? said(lb.status, { type: "Accepted", status: "True" }, nowMs) : lb.status;
}

export function withHold(
  lb: LoadBalancer,
  hold: { readonly reason: string; readonly message: string } | undefined,
  nowMs: number,
): LoadBalancerStatus {
  if (hold !== undefined) return said(lb.status, { type: "Deletable", status: "False", ...hold }, nowMs);
  if (lb.metadata.deletionTimestamp !== undefined) return lb.status;
  const conditions = withoutCondition(lb.status.conditions, "Deletable");
  return conditions === lb.status.conditions ? lb.status : { ...lb.status, conditions };
}

function said(status: LoadBalancerStatus, condition: Said, nowMs: number): LoadBalancerStatus {
  const conditions = withCondition(status.conditions, condition, nowMs);
  return conditions === status.conditions ? status : { ...status, conditions };
}
