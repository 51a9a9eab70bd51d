/**
 * The way of a request through the front door:
 *
 *   authenticate → authorize → throttle → faults before → model → latency → faults after → reply
 *
 * Sign-in and discovery pass through the same faults and the same log, but need no token. What Azure answers is the
 * model's; this file only decides who gets through, and when.
 */
import type { Account } from "../identity/account.ts";
import { isRefusal, type Caller, type TokenAuthority } from "../identity/tokens.ts";
import type { AuditLog } from "../control/audit.ts";
import { differences } from "../control/diff.ts";
import type { Effect, Fault, FaultBoard } from "../control/faults.ts";
import type { Latency } from "../latency/latency.ts";
import { operationKindOf, type ArmRequest, type Draws, type OperationKind } from "../model/index.ts";
import type { AzureStore, Touched } from "../store/azure-store.ts";
import { armHeaders, gatewayError } from "./arm-headers.ts";
import { CUT, type Answer, type HttpReply, type HttpRequest } from "./http-message.ts";
import { accessOf, allows, type Role } from "./role.ts";
import { kindOfMethod, type Throttle } from "./throttle.ts";

export interface Gate {
  readonly account: Account;
  readonly tokens: TokenAuthority;
  readonly roleOf: (caller: Caller) => Role;
  readonly throttle: Throttle;
  readonly faults: FaultBoard;
  readonly audit: AuditLog;
  readonly latency: Latency;
  readonly store: AzureStore;
  /** Sign-in, discovery: whatever answers without a token; `undefined` for all other paths. */
  readonly open: (request: HttpRequest) => HttpReply | undefined;
  readonly authorityUrl: () => string;
  readonly allowsPlainHttp: boolean;
  readonly nowMs: () => number;
  readonly guid: () => string;
  /** Resolves early, to `false`, when the emulator closes. */
  readonly sleep: (ms: number) => Promise<boolean>;
}

/** What is known about a request before it is answered. */
interface Call {
  readonly request: HttpRequest;
  readonly arm: ArmRequest;
  readonly startedMs: number;
  readonly guid: string;
  readonly isPoll: boolean;
  readonly kind: OperationKind | undefined;
}

interface Outcome {
  readonly reply: HttpReply | typeof CUT;
  readonly caller?: Caller;
  readonly touched?: readonly Touched[];
  readonly faults?: readonly Fault[];
}

const METHODS = ["GET", "HEAD", "PUT", "PATCH", "POST", "DELETE"];
const POLL_PATH = /\/operation(?:s|results)\/[^/]+\/?$/i;

export function armAnswer(gate: Gate): Answer {
  return async (request) => {
    const call = callOf(gate, request);
    const outcome = await attend(gate, call);
    const reply = outcome.reply === CUT ? CUT : withArmHeaders(gate, call, outcome.reply);
    log(gate, call, outcome);
    return reply;
  };
}

function callOf(gate: Gate, request: HttpRequest): Call {
  const startedMs = gate.nowMs();
  const arm = armRequestOf(request, startedMs);
  return {
    request,
    arm,
    startedMs,
    guid: gate.guid(),
    isPoll: POLL_PATH.test(request.path),
    kind: operationKindOf(arm),
  };
}

function armRequestOf(request: HttpRequest, nowMs: number): ArmRequest {
  const { path, query, headers, baseUrl, text } = request;
  const base = { method: request.method as ArmRequest["method"], path, query, headers, nowMs, baseUrl };
  if (text.trim() === "") return { ...base, body: undefined };
  try {
    const body = JSON.parse(text) as unknown;
    return isNestedWithin(MAX_NESTING, body) ? { ...base, body } : { ...base, body: undefined, malformed: true };
  } catch {
    return { ...base, body: undefined, malformed: true };
  }
}

/** Deeper bodies count as unreadable, as with Azure's own parser. */
const MAX_NESTING = 64;

function isNestedWithin(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (levels === 0) return false;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    if (!isNestedWithin(levels - 1, item)) return false;
  }
  return true;
}

async function attend(gate: Gate, call: Call): Promise<Outcome> {
  const { request } = call;
  const open = gate.open(request);
  const admission = open === undefined ? admit(gate, call) : undefined;
  if (admission?.refusal !== undefined) return { reply: admission.refusal, ...callerOf(admission.caller) };
  const caller = admission?.caller;

  const faults = gate.faults.hits({ method: request.method, path: request.path, caller: caller?.clientId });
  const outcome = { ...callerOf(caller), faults };
  const effects = effectsOf(faults);
  if (effects.delay !== undefined && !(await gate.sleep(effects.delay.delayMs))) return { reply: CUT, ...outcome };
  if (effects.cutBefore !== undefined) return { reply: CUT, ...outcome };
  if (effects.status !== undefined) return { reply: faultReply(effects.status), ...outcome };

  const replyMs = open === undefined ? replyMsOf(gate, call) : 0;
  const { reply, touched } = open === undefined ? askModel(gate, call, effects, replyMs) : { reply: open, touched: [] };
  if (replyMs > 0 && !(await gate.sleep(replyMs))) return { reply: CUT, ...outcome, touched };
  if (effects.cutAfter !== undefined) return { reply: CUT, ...outcome, touched };
  return { reply: withHeaders(reply, admission?.headers ?? {}), ...outcome, touched };
}

function callerOf(caller: Caller | undefined): { caller?: Caller } {
  return caller === undefined ? {} : { caller };
}

interface Admission {
  readonly refusal?: HttpReply;
  readonly caller?: Caller;
  /** Rate headers for the answer. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The front door's own checks, in its order. */
function admit(gate: Gate, { request }: Call): Admission {
  const { method, path } = request;
  if (!request.secure && !gate.allowsPlainHttp) {
    return {
      refusal: gatewayError(403, "SslRequired", "SSL is required. Use the https endpoint, or start with --http."),
    };
  }
  const caller = gate.tokens.verify(request.headers["authorization"]);
  if (isRefusal(caller)) {
    const uri = `${gate.authorityUrl()}/${gate.account.tenantId}`;
    const challenge = `Bearer authorization_uri="${uri}", error="invalid_token", error_description="${caller.message}"`;
    return { refusal: gatewayError(401, caller.code, caller.message, { "www-authenticate": challenge }) };
  }
  if (!METHODS.includes(method)) {
    return { refusal: gatewayError(405, "MethodNotAllowed", `The HTTP method '${method}' is not supported.`), caller };
  }
  const { action, scope } = accessOf(method, path);
  if (!POLL_PATH.test(path) && !allows(gate.roleOf(caller), action)) {
    const message =
      `The client '${caller.clientId}' with object id '${caller.objectId}' does not have authorization to perform ` +
      `action '${action}' over scope '${scope}' or the scope is invalid. If access was recently granted, please ` +
      `refresh your credentials.`;
    return { refusal: gatewayError(403, "AuthorizationFailed", message), caller };
  }
  return throttled(gate, request, caller);
}

function throttled(gate: Gate, { method, path }: HttpRequest, caller: Caller): Admission {
  const subscription = path.split("/")[2] ?? "";
  const ruling = gate.throttle.rule({
    principal: caller.clientId,
    subscription: subscription.toLowerCase(),
    kind: kindOfMethod(method),
    networkRegion: /\/providers\/microsoft\.network\//i.test(path) ? gate.account.location : undefined,
  });
  if (ruling.retryAfterSeconds === undefined) return { caller, headers: ruling.headers };
  const seconds = String(ruling.retryAfterSeconds);
  const message =
    `Number of requests for subscription '${subscription}' and operation '${method}${path.toUpperCase()}' exceeded ` +
    `the backend storage limit. Please try again after '${seconds}' seconds.`;
  const headers = { ...ruling.headers, "retry-after": seconds };
  return { caller, refusal: gatewayError(429, "SubscriptionRequestsThrottled", message, headers) };
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

function replyMsOf(gate: Gate, call: Call): number {
  if (call.isPoll) return gate.latency.pollReplyMs();
  return call.kind === undefined ? 0 : gate.latency.replyMs(call.kind);
}

function askModel(
  gate: Gate,
  call: Call,
  effects: Effects,
  replyMs: number,
): { reply: HttpReply; touched: readonly Touched[] } {
  const draws = drawsOf(gate, call, effects, replyMs);
  const isRead = call.request.method === "GET" || call.request.method === "HEAD";
  if (effects.staleRead !== undefined && isRead) return { reply: gate.store.readStale(call.arm, draws), touched: [] };
  const { response, touched } = gate.store.handle(call.arm, draws);
  return { reply: response, touched };
}

/** An operation's tail begins when its reply leaves, so the model is told both together. */
function drawsOf(gate: Gate, call: Call, { operation }: Effects, replyMs: number): Draws {
  let guids = 0;
  return {
    // The first one names the request, and with it the operation that it begins.
    guid: () => (guids++ === 0 ? call.guid : gate.guid()),
    tailMs(kind) {
      const tail = operation?.tailMs ?? gate.latency.tailMs(kind);
      return tail === 0 ? 0 : replyMs + tail;
    },
    retryAfterSeconds: (kind) => gate.latency.retryAfterSeconds(kind),
    ...(operation?.fate === undefined ? {} : { fate: operation.fate }),
  };
}

function withHeaders(reply: HttpReply, headers: Readonly<Record<string, string>>): HttpReply {
  return { ...reply, headers: { ...headers, ...reply.headers } };
}

function withArmHeaders(gate: Gate, call: Call, reply: HttpReply): HttpReply {
  const ids = {
    guid: call.guid,
    nowMs: gate.nowMs(),
    correlationId: call.request.headers["x-ms-correlation-request-id"],
  };
  return withHeaders(reply, armHeaders(ids));
}

function log(gate: Gate, call: Call, outcome: Outcome): void {
  const { request, kind, isPoll } = call;
  const { reply } = outcome;
  const status = reply === CUT ? 0 : reply.status;
  gate.audit.record({
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
    durationMs: gate.nowMs() - call.startedMs,
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
