/**
 * Long-running operations: their start, their locks, and the answers of their URLs.
 *
 *   write during a running operation           | answer
 *   ------------------------------------------|------------------------------------------------------
 *   LB or pool PUT on an LB or pool PUT        | the older one ends Canceled, superseded
 *   scale-set PUT on a scale-set PUT           | the older one ends Canceled, preempted
 *   virtual network or subnet                  | 409 AnotherOperationInProgress
 *   compute                                    | 409 Conflict
 *   anything else                              | 429 RetryableError: try again in N seconds
 */
import type { Change } from "./changes.ts";
import type { Call } from "./call.ts";
import { reply } from "./call.ts";
import type { Decision, OperationKind } from "./contract.ts";
import { compute, ArmError, retryable, childNotFound } from "./errors.ts";
import { subscriptionOf } from "./ids.ts";
import type { Operation } from "./operation.ts";
import type { Pace } from "./resource-type.ts";
import type { State } from "./state.ts";

export interface Start {
  /** Canonical id of its resource. */
  readonly id: string;
  readonly key: string;
  readonly type: string;
  readonly location: string;
  readonly name: string;
  readonly pace: Pace;
  readonly kind: OperationKind;
  readonly effect: Operation["effect"];
  readonly locks?: readonly string[];
  readonly companions?: readonly string[];
  readonly result?: unknown;
}

/** The operation that a write starts; an injected failure makes every write asynchronous. */
export function begin(call: Call, start: Start): Operation {
  const { nowMs } = call.request;
  const later = start.pace === "later" || call.draws.fate !== undefined;
  const retryAfterSeconds = later ? call.draws.retryAfterSeconds(start.kind) : undefined;
  return {
    id: call.draws.guid(),
    name: start.name,
    subscription: subscriptionOf(start.id),
    provider: start.type.split("/")[0] as Operation["provider"],
    location: start.location,
    key: start.key,
    effect: start.effect,
    locks: [start.key, ...(start.locks ?? [])],
    startMs: nowMs,
    endMs: later ? nowMs + call.draws.tailMs(start.kind) : nowMs,
    status: later ? "InProgress" : "Succeeded",
    ...(start.companions && start.companions.length > 0 && { companions: start.companions }),
    ...(later && call.draws.fate && { fate: call.draws.fate }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(start.result !== undefined && { result: start.result }),
  };
}

/** The changes that end superseded operations, and the companions that the new operation inherits. */
export interface Superseded {
  readonly changes: Change[];
  readonly inherited: readonly string[];
}

/** Supersedes running operations, or refuses the write if one cannot be superseded. */
export function supersedeRunning(call: Call, start: Pick<Start, "key" | "name" | "locks">, newId: string): Superseded {
  const older = new Map<string, Operation>();
  for (const key of [start.key, ...(start.locks ?? [])]) {
    const holder = call.state.running.get(call.state.locks.get(key) ?? "");
    if (holder && !supersedes(start, holder)) throw locked(call, key, holder);
    if (holder) older.set(holder.id, superseded(holder, start.name, newId, call.request.nowMs));
  }
  const ended = [...older.values()];
  return {
    changes: ended.map((operation) => ({ kind: "operation", operation })),
    inherited: ended.flatMap((operation) => operation.companions ?? []),
  };
}

const SUPERSEDING = /^Put(LoadBalancer|LoadBalancerBackendAddressPool|InboundNatRule|VirtualMachineScaleSet)Operation$/;

function supersedes(start: Pick<Start, "key" | "name">, holder: Operation): boolean {
  const puts = SUPERSEDING.test(start.name) && SUPERSEDING.test(holder.name);
  return puts && holder.key === start.key && holder.effect === "provision";
}

function superseded(older: Operation, name: string, newId: string, nowMs: number): Operation {
  if (older.provider === "Microsoft.Compute") {
    const message = "Operation execution has been preempted by a more recent operation.";
    return { ...older, status: "Canceled", endMs: nowMs, error: { code: "OperationPreempted", message } };
  }
  const message = `Operation ${older.name} (${older.id}) was canceled and superseded by operation ${name} (${newId}).`;
  const details = [{ code: "CanceledAndSupersededDueToAnotherOperation", message }];
  return {
    ...older,
    status: "Canceled",
    endMs: nowMs,
    error: { code: "Canceled", message: "Operation was canceled.", details },
  };
}

/** Refuses a write to a resource that another operation locks. */
export function checkUnlocked(call: Call, key: string): void {
  const holder = call.state.running.get(call.state.locks.get(key) ?? "");
  if (holder) throw locked(call, key, holder);
}

function locked(call: Call, key: string, holder: Operation): ArmError {
  const seconds = Math.max(1, Math.ceil((holder.endMs - call.request.nowMs) / 1000));
  const id = call.state.resources.get(key)?.id ?? key;
  if (holder.provider === "Microsoft.Compute") {
    return compute(
      409,
      "Conflict",
      `The request failed due to conflict with a concurrent request: ${holder.name} on ${id}.`,
    );
  }
  if (key.includes("/virtualnetworks/")) {
    const message = `Another operation on this or dependent resource is in progress. To retrieve status of the operation use uri: ${operationUrl(call, holder, "operations")}.`;
    return new ArmError("network", 409, { code: "AnotherOperationInProgress", message });
  }
  return retryable(
    "RetryableErrorDueToAnotherOperation",
    `Operation ${holder.name} (${holder.id}) is updating resource ${id}. The call can be retried in ${seconds} seconds.`,
    seconds,
  );
}

/** The running operation that deletes a resource. */
export function runningDeletion(call: Call, key: string): Operation | undefined {
  const holder = call.state.running.get(call.state.locks.get(key) ?? "");
  return holder?.effect === "drop" && holder.key === key ? holder : undefined;
}

function operationUrl(call: Call, operation: Operation, kind: "operations" | "operationResults"): string {
  const version = `api-version=${call.request.query["api-version"] ?? ""}`;
  if (operation.provider === "Microsoft.Resources") {
    return `${call.request.baseUrl}/subscriptions/${operation.subscription}/operationresults/${operation.id}?${version}`;
  }
  const base = `${call.request.baseUrl}/subscriptions/${operation.subscription}/providers/${operation.provider}`;
  return `${base}/locations/${operation.location}/${kind}/${operation.id}?${version}`;
}

/** The response headers of the request that started an operation. */
export function operationHeaders(call: Call, operation: Operation, withLocation: boolean): Record<string, string> {
  const own = operation.provider === "Microsoft.Resources";
  return {
    "x-ms-request-id": operation.id,
    ...(!own && {
      "azure-asyncoperation": operationUrl(call, operation, "operations"),
      "azure-asyncnotification": "Enabled",
    }),
    ...((withLocation || own) && { location: operationUrl(call, operation, "operationResults") }),
    ...retryAfter(operation),
  };
}

function retryAfter(operation: Operation): Record<string, string> {
  const seconds = operation.status === "InProgress" ? operation.retryAfterSeconds : undefined;
  return seconds === undefined ? {} : { "retry-after": String(seconds) };
}

/** GET of an operation's status URL: 200 in every case. */
export function pollOperation(call: Call, operationId: string): Decision {
  const operation = known(call.state, operationId);
  const { status, error } = operation;
  const network = operation.provider !== "Microsoft.Compute";
  const failure = error && { error: network ? { details: [], ...error } : error };
  const times = network
    ? {}
    : {
        startTime: new Date(operation.startMs).toISOString(),
        ...(status !== "InProgress" && { endTime: new Date(operation.endMs).toISOString() }),
      };
  const body = { ...times, status, ...failure, ...(!network && { name: operation.id }) };
  return reply(call, { status: 200, headers: retryAfter(operation), body });
}

/** GET of an operation's result URL: 202 until it ends. */
export function operationResult(call: Call, operationId: string): Decision {
  const operation = known(call.state, operationId);
  switch (operation.status) {
    case "InProgress":
      return reply(call, { status: 202, headers: operationHeaders(call, operation, true) });
    case "Failed":
    case "Canceled":
      return reply(call, { status: 409, headers: {}, body: { error: { details: [], ...operation.error } } });
    case "Succeeded":
      return reply(call, succeeded(operation));
  }
}

function succeeded(operation: Operation): Decision["response"] {
  if (operation.result !== undefined) return { status: 200, headers: {}, body: operation.result };
  if (operation.provider === "Microsoft.Resources") return { status: 200, headers: {} };
  return { status: 204, headers: {} };
}

function known(state: State, operationId: string): Operation {
  const operation = state.operations.get(operationId.toLowerCase());
  if (!operation) throw childNotFound(`operation ${operationId}`);
  return operation;
}
