/**
 * The steps of a request to the emulated Resource Manager:
 *
 *   authenticate → authorize → throttle → faults before → model → latency → faults after → reply
 *
 * Sign-in and discovery pass through the same faults and the same log, but need no token. The model decides the answer;
 * this file decides whether and when a request reaches it.
 */
import type { AuditLog } from "../control/audit.ts";
import { differences } from "../control/diff.ts";
import { delayedBy, type Effect, type Fault, type FaultRegistry } from "../control/faults.ts";
import type { Caller } from "../identity/tokens.ts";
import type { Latency } from "../latency/latency.ts";
import { operationKindOf, type ArmRequest, type Draws, type OperationKind } from "../model/index.ts";
import type { AzureStore, Touched } from "../store/azure-store.ts";
import { admit, isPoll, type Admission, type Gateway } from "./admission.ts";
import { armHeaders, isGatewayError, providerHeaders } from "./arm-headers.ts";
import { answerAuthorization } from "./authorization.ts";
import { armRequestOf } from "./arm-request.ts";
import { CUT, type Answer, type HttpReply, type HttpRequest } from "./http-message.ts";

export interface PipelineOptions extends Gateway {
  readonly faults: FaultRegistry;
  readonly audit: AuditLog;
  readonly latency: Latency;
  readonly store: AzureStore;
  /** Probe results, if there is a data plane. */
  readonly probed: Draws["probed"];
  /** Answers paths that need no token (sign-in, discovery); `undefined` for other paths. */
  readonly open: (request: HttpRequest) => HttpReply | undefined;
  readonly nowMs: () => number;
  readonly guid: () => string;
  /** Resolves early, to `false`, when the emulator closes. */
  readonly sleep: (ms: number) => Promise<boolean>;
}

/** A request with what is known before it is answered. */
interface Call {
  readonly request: HttpRequest;
  readonly arm: ArmRequest;
  readonly startedMs: number;
  readonly guid: string;
  readonly isPoll: boolean;
  readonly kind: OperationKind | undefined;
  /** From arrival to the end of the operation that it begins, once drawn. */
  operationMs: number | null;
}

interface Outcome {
  readonly reply: HttpReply | typeof CUT;
  readonly caller?: Caller;
  readonly touched?: readonly Touched[];
  readonly faults?: readonly Fault[];
}

export function armAnswer(options: PipelineOptions): Answer {
  return async (request) => {
    const call = callOf(options, request);
    const outcome = await handle(options, call);
    const reply = outcome.reply === CUT ? CUT : withArmHeaders(options, call, outcome.reply);
    log(options, call, outcome);
    return reply;
  };
}

function callOf(options: PipelineOptions, request: HttpRequest): Call {
  const startedMs = options.nowMs();
  const arm = armRequestOf(request, startedMs);
  return {
    request,
    arm,
    startedMs,
    guid: options.guid(),
    isPoll: isPoll(request.path),
    kind: operationKindOf(arm),
    operationMs: null,
  };
}

async function handle(options: PipelineOptions, call: Call): Promise<Outcome> {
  const { request } = call;
  const open = options.open(request);
  const admission = open === undefined ? admit(options, request) : undefined;
  if (admission?.refusal !== undefined) return { reply: admission.refusal, ...callerOf(admission.caller) };
  const caller = admission?.caller;

  const faults = options.faults.hits({ method: request.method, path: request.path, caller: caller?.clientId });
  const outcome = { ...callerOf(caller), faults };
  const effects = effectsOf(faults);
  if (!(await delayedBy(faults, options.faults, options.sleep))) return { reply: CUT, ...outcome };
  if (effects.cutBefore !== undefined) return { reply: CUT, ...outcome };
  if (effects.status !== undefined) return { reply: faultReply(effects.status), ...outcome };

  const replyMs = open === undefined ? replyMsOf(options, call) : 0;
  const known = open ?? (caller && answerAuthorization(request, caller, options.roleOf(caller)));
  const { reply, touched } =
    known === undefined ? callModel(options, call, effects, replyMs) : { reply: known, touched: [] };
  if (replyMs > 0 && !(await options.sleep(replyMs))) return { reply: CUT, ...outcome, touched };
  if (effects.cutAfter !== undefined) return { reply: CUT, ...outcome, touched };
  const headers = isGatewayError(reply) ? {} : headersFromProvider(options, call, admission);
  return { reply: withHeaders(reply, headers), ...outcome, touched };
}

/** Headers of answers from a resource provider. */
function headersFromProvider(
  options: PipelineOptions,
  { request }: Call,
  admission: Admission | undefined,
): Record<string, string> {
  if (admission === undefined) return {};
  const isRead = request.method === "GET" || request.method === "HEAD";
  return { ...admission.headers, ...providerHeaders(request.path, options.guid(), isRead) };
}

function callerOf(caller: Caller | undefined): { caller?: Caller } {
  return caller === undefined ? {} : { caller };
}

type Effects = { [Kind in Effect["kind"]]?: Extract<Effect, { kind: Kind }> };

function effectsOf(faults: readonly Fault[]): Effects {
  return Object.fromEntries(faults.map(({ effect }) => [effect.kind, effect]));
}

function faultReply(effect: Extract<Effect, { kind: "status" }>): HttpReply {
  const { status, code, message, retryAfterSeconds } = effect;
  const headers: Record<string, string> =
    retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  return { status, headers, body: { error: { code, message, details: [] } } };
}

function replyMsOf(options: PipelineOptions, call: Call): number {
  if (call.isPoll) return options.latency.pollReplyMs();
  return call.kind === undefined ? 0 : options.latency.replyMs(call.kind);
}

function callModel(
  options: PipelineOptions,
  call: Call,
  effects: Effects,
  replyMs: number,
): { reply: HttpReply; touched: readonly Touched[] } {
  const draws = drawsOf(options, call, effects, replyMs);
  const isRead = call.request.method === "GET" || call.request.method === "HEAD";
  if (effects.staleRead !== undefined && isRead)
    return { reply: options.store.readStale(call.arm, draws), touched: [] };
  const { response, touched } = options.store.handle(call.arm, draws);
  return { reply: response, touched };
}

/** The tail starts when the reply is sent, so the operation's duration includes the reply time. */
function drawsOf(options: PipelineOptions, call: Call, { operation }: Effects, replyMs: number): Draws {
  let guids = 0;
  return {
    // The first GUID is the request's id, and the id of the operation that it starts.
    guid: () => (guids++ === 0 ? call.guid : options.guid()),
    tailMs(kind) {
      const tail = operation?.tailMs ?? options.latency.tailMs(kind);
      call.operationMs = replyMs + tail;
      return tail === 0 ? 0 : call.operationMs;
    },
    retryAfterSeconds: (kind) => options.latency.retryAfterSeconds(kind),
    ...(operation?.fate === undefined ? {} : { fate: operation.fate }),
    ...(options.probed === undefined ? {} : { probed: options.probed }),
  };
}

function withHeaders(reply: HttpReply, headers: Readonly<Record<string, string>>): HttpReply {
  return { ...reply, headers: { ...headers, ...reply.headers } };
}

function withArmHeaders(options: PipelineOptions, call: Call, reply: HttpReply): HttpReply {
  const ids = {
    guid: call.guid,
    nowMs: options.nowMs(),
    correlationId: call.request.headers["x-ms-correlation-request-id"],
  };
  return withHeaders(reply, armHeaders(ids));
}

function log(options: PipelineOptions, call: Call, outcome: Outcome): void {
  const { request, kind, isPoll } = call;
  const { reply } = outcome;
  const status = reply === CUT ? 0 : reply.status;
  options.audit.record({
    time: new Date(call.startedMs).toISOString(),
    caller: outcome.caller?.clientId ?? null,
    method: request.method,
    path: request.path,
    apiVersion: request.query["api-version"] ?? null,
    type: isPoll ? null : (kind?.type ?? null),
    verb: isPoll ? null : (kind?.verb ?? null),
    poll: isPoll,
    status,
    code: reply === CUT ? null : errorCodeOf(reply.body),
    durationMs: options.nowMs() - call.startedMs,
    operationMs: call.operationMs,
    ifMatch: request.headers["if-match"] ?? null,
    faults: (outcome.faults ?? []).map((fault) => fault.id),
    diff: (outcome.touched ?? []).map(({ before, after }) => ({
      id: (after ?? before)?.id ?? "",
      changes: differences(before?.body, after?.body),
    })),
  });
}

function errorCodeOf(body: unknown): string | null {
  const error = (body as { error?: { code?: unknown } | string } | undefined)?.error;
  if (typeof error === "string") return error;
  return typeof error?.code === "string" ? error.code : null;
}
