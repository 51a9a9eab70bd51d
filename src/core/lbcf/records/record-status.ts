/** What a driver's answer makes of a record: the status to store, and what to tell. */
import type { EventText } from "../../events/event-reasons.ts";
import { withCondition, withoutCondition } from "../objects/conditions.ts";
import {
  type Addressed,
  type Answer,
  type Ensured,
  type NotYet,
  doneEvent,
  notYetEvent,
} from "../drivers/driver-answers.ts";
import type { BackendRecord, RecordStatus } from "../objects/objects.ts";
import { isRegistered } from "./reconcile-backend-record.ts";

export interface RecordAfter {
  /** The record's own where there is nothing to store. */
  readonly status: RecordStatus;
  readonly event: EventText | undefined;
}

export function afterGenerate(
  record: BackendRecord,
  source: string,
  answer: Answer<Addressed>,
  nowMs: number,
): RecordAfter {
  if (answer.status !== "Succ") return notYet(record, "generateBackendAddr", answer, nowMs);
  const { backendAddr } = answer;
  const { registeredAddr: _, ...status } = record.status;
  return {
    status: { ...status, backendAddr, generatedFrom: source },
    event: doneEvent("generateBackendAddr", `addr: ${backendAddr}`),
  };
}

/** Periodic successes change nothing, write nothing and say nothing. */
export function afterEnsure(record: BackendRecord, answer: Answer<Ensured>, nowMs: number): RecordAfter {
  if (answer.status !== "Succ") return notYet(record, "ensureBackend", answer, nowMs);
  const { status, metadata } = record;
  const said = { type: "Registered", status: "True", observedGeneration: metadata.generation } as const;
  const conditions = withCondition(
    status.conditions,
    { ...said, ...(answer.reason && { reason: answer.reason, message: answer.msg }) },
    nowMs,
  );
  const isNews = !isRegistered(record) || conditions !== status.conditions;
  const injectedInfo = Object.keys(answer.injectedInfo).length > 0 ? answer.injectedInfo : status.injectedInfo;
  const isSame = !isNews && sameInfo(injectedInfo, status.injectedInfo) && status.registeredAddr !== undefined;
  return {
    status: isSame ? status : { ...status, registeredAddr: status.backendAddr, injectedInfo, conditions },
    event: isNews ? doneEvent("ensureBackend", "Successfully ensured backend") : undefined,
  };
}

function sameInfo(one: RecordStatus["injectedInfo"], other: RecordStatus["injectedInfo"]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A success leaves the status alone where the record goes; else the address is forgotten. */
export function afterDeregister(
  record: BackendRecord,
  thenRelease: boolean,
  answer: Answer,
  nowMs: number,
): RecordAfter {
  if (answer.status !== "Succ") return notDeregistered(record, answer, nowMs);
  return { status: thenRelease ? record.status : withoutAddress(record, nowMs), event: undefined };
}

/** It has left its old address: what was said while it could not is said no more. */
export function withoutAddress({ status }: BackendRecord, nowMs: number): RecordStatus {
  const message = "the backend has another address now";
  const said = { type: "Registered", status: "False", reason: "AddressChanged", message } as const;
  const conditions = withCondition(withoutCondition(status.conditions, "Deregistered"), said, nowMs);
  return { backendAddr: "", injectedInfo: {}, conditions };
}

function notYet(
  record: BackendRecord,
  verb: "generateBackendAddr" | "ensureBackend",
  answer: NotYet,
  nowMs: number,
): RecordAfter {
  const event = notYetEvent(verb, answer);
  // without an answer nobody knows that a registered backend has left
  const isSilent = answer.status === "Running" || (answer.status !== "Fail" && isRegistered(record));
  if (isSilent) return { status: record.status, event };
  const reason = answer.status === "Fail" ? "OperationFailed" : "DriverError";
  return { status: unregistered(record, reason, answer.msg, nowMs), event };
}

function unregistered({ status }: BackendRecord, reason: string, message: string, nowMs: number): RecordStatus {
  const said = { type: "Registered", status: "False", reason, message } as const;
  const conditions = withCondition(status.conditions, said, nowMs);
  return conditions === status.conditions ? status : { ...status, conditions };
}

function notDeregistered(record: BackendRecord, answer: NotYet, nowMs: number): RecordAfter {
  const event = notYetEvent("deregisterBackend", answer);
  if (answer.status === "Running") return { status: record.status, event };
  const reason = answer.status === "Fail" ? "OperationFailed" : "DriverError";
  return { status: stuck(record, reason, answer.msg, nowMs), event };
}

/** Why a record that should go is still there. */
export function stuck({ status }: BackendRecord, reason: string, message: string, nowMs: number): RecordStatus {
  const said = { type: "Deregistered", status: "False", reason, message } as const;
  const conditions = withCondition(status.conditions, said, nowMs);
  return conditions === status.conditions ? status : { ...status, conditions };
}

/** What a wait says on the object; registered ones keep saying that they are. */
export function afterWait(record: BackendRecord, reason: string, message: string, nowMs: number): RecordStatus {
  if (record.metadata.deletionTimestamp !== undefined) return stuck(record, reason, message, nowMs);
  return isRegistered(record) ? record.status : unregistered(record, reason, message, nowMs);
}
