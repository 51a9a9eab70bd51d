/** A record's status, and the event to send, after a driver's answer. */
import type { EventText } from "../../events/event-reasons.ts";
import { withCondition, withoutCondition } from "../objects/conditions.ts";
import {
  type GeneratedAddress,
  type Answer,
  type EnsuredBackend,
  type UnfinishedAnswer,
  doneEvent,
  unfinishedEvent,
} from "../drivers/driver-answers.ts";
import type { BackendRecord, RecordStatus } from "../objects/objects.ts";
import { isRegistered } from "./reconcile-backend-record.ts";

export interface RecordUpdate {
  /** `record.status` itself when there is nothing to store. */
  readonly status: RecordStatus;
  readonly event: EventText | undefined;
}

export function afterGenerate(
  record: BackendRecord,
  source: string,
  answer: Answer<GeneratedAddress>,
  nowMs: number,
): RecordUpdate {
  if (answer.status !== "Succ") return unfinished(record, "generateBackendAddr", answer, nowMs);
  const { backendAddr } = answer;
  const { registeredAddr: _, ...status } = record.status;
  return {
    status: { ...status, backendAddr, generatedFrom: source },
    event: doneEvent("generateBackendAddr", `addr: ${backendAddr}`),
  };
}

/** A periodic success changes no status and sends no event. */
export function afterEnsure(record: BackendRecord, answer: Answer<EnsuredBackend>, nowMs: number): RecordUpdate {
  if (answer.status !== "Succ") return unfinished(record, "ensureBackend", answer, nowMs);
  const { status, metadata } = record;
  const update = { type: "Registered", status: "True", observedGeneration: metadata.generation } as const;
  const conditions = withCondition(
    status.conditions,
    { ...update, ...(answer.reason && { reason: answer.reason, message: answer.msg }) },
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

/** On success: unchanged when the record is being deleted; otherwise without the address. */
export function afterDeregister(
  record: BackendRecord,
  thenRelease: boolean,
  answer: Answer,
  nowMs: number,
): RecordUpdate {
  if (answer.status !== "Succ") return notDeregistered(record, answer, nowMs);
  return { status: thenRelease ? record.status : withoutAddress(record, nowMs), event: undefined };
}

/** The old address is deregistered: a condition about failing to do so no longer applies. */
export function withoutAddress({ status }: BackendRecord, nowMs: number): RecordStatus {
  const message = "the backend has another address now";
  const update = { type: "Registered", status: "False", reason: "AddressChanged", message } as const;
  const conditions = withCondition(withoutCondition(status.conditions, "Deregistered"), update, nowMs);
  return { backendAddr: "", injectedInfo: {}, conditions };
}

function unfinished(
  record: BackendRecord,
  verb: "generateBackendAddr" | "ensureBackend",
  answer: UnfinishedAnswer,
  nowMs: number,
): RecordUpdate {
  const event = unfinishedEvent(verb, answer);
  // no answer does not mean that a registered backend is gone
  const isSilent = answer.status === "Running" || (answer.status !== "Fail" && isRegistered(record));
  if (isSilent) return { status: record.status, event };
  const reason = answer.status === "Fail" ? "OperationFailed" : "DriverError";
  return { status: unregistered(record, reason, answer.msg, nowMs), event };
}

function unregistered({ status }: BackendRecord, reason: string, message: string, nowMs: number): RecordStatus {
  const update = { type: "Registered", status: "False", reason, message } as const;
  const conditions = withCondition(status.conditions, update, nowMs);
  return conditions === status.conditions ? status : { ...status, conditions };
}

function notDeregistered(record: BackendRecord, answer: UnfinishedAnswer, nowMs: number): RecordUpdate {
  const event = unfinishedEvent("deregisterBackend", answer);
  if (answer.status === "Running") return { status: record.status, event };
  const reason = answer.status === "Fail" ? "OperationFailed" : "DriverError";
  return { status: notDeregisteredYet(record, reason, answer.msg, nowMs), event };
}

/** Reports why a deleted record still exists. */
function notDeregisteredYet({ status }: BackendRecord, reason: string, message: string, nowMs: number): RecordStatus {
  const update = { type: "Deregistered", status: "False", reason, message } as const;
  const conditions = withCondition(status.conditions, update, nowMs);
  return conditions === status.conditions ? status : { ...status, conditions };
}

/** Reports what the record waits for. A registered record keeps its condition. */
export function afterWait(record: BackendRecord, reason: string, message: string, nowMs: number): RecordStatus {
  if (record.metadata.deletionTimestamp !== undefined) return notDeregisteredYet(record, reason, message, nowMs);
  return isRegistered(record) ? record.status : unregistered(record, reason, message, nowMs);
}
