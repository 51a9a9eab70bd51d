/**
 * What went wrong at Azure, as a closed union by `kind`. What each kind leads to is told in one table, `core/retry.ts`; a
 * new kind does not compile until it stands there. Classified by status and code, never by what a message says; messages
 * are only searched for the ids that they name.
 *
 *   kind            | Azure said                                             | what helps
 *   ----------------|--------------------------------------------------------|-------------------------------------
 *   notFound        | 404, by what is missing                                | depends on what was asked
 *   conflict        | 412: changed since it was read                         | read, merge, write again
 *   superseded      | the operation was cancelled by a newer one             | the same
 *   busy            | locked by another operation (429 that is no throttle)  | wait, read, write again
 *   notProvisioned  | a reference to something that isn't ready              | wait for it or repair it
 *   throttled       | 429                                                    | wait as long as told
 *   invalid         | refused for what it says                               | the user changes something
 *   quota           | refused for how many there are                         | the user raises a limit
 *   inUse           | cannot go while something holds it                     | the holder goes first
 *   locked          | a management lock, or its group is being deleted       | a person lifts it
 *   denied          | 403                                                    | a role assignment
 *   unauthenticated | 401, or no token to be had                             | the credentials
 *   transient       | 408, 5xx, no answer                                    | read, then write again
 *   fenced          | nothing: this process may not write (any more)         | its successor does it
 */
import type { ArmResponse } from "./transport.ts";
import { parseErrorBody, partsOf, field, textField, type ErrorPart } from "./response-body.ts";
import type { FailureKind } from "../../core/retry.ts";
import { kindOfCode } from "./failure-codes.ts";

interface Base {
  /** The code that decided, as Azure spells it; empty where Azure gave none. */
  readonly code: string;
  /** Azure's own words. */
  readonly message: string;
  readonly status: number | undefined;
  /** Further codes and messages, outermost first. */
  readonly details: readonly ErrorPart[];
  /** Azure's id of the request, for its support. */
  readonly requestId: string | undefined;
}

export type ArmFailure = Base &
  (
    | { readonly kind: "notFound"; readonly missing: "resource" | "parent" | "resourceGroup" | "subscription" }
    | { readonly kind: "conflict" | "superseded" | "unauthenticated" | "quota" | "fenced" }
    | { readonly kind: "busy"; readonly retryAfterMs: number | undefined }
    | { readonly kind: "notProvisioned"; readonly referencedId: string | undefined }
    | { readonly kind: "throttled"; readonly retryAfterMs: number | undefined }
    | { readonly kind: "invalid"; readonly target: string | undefined }
    | { readonly kind: "inUse"; readonly heldBy: string | undefined }
    | { readonly kind: "locked" }
    | { readonly kind: "denied"; readonly action: string | undefined; readonly scope: string | undefined }
    /** `maybeApplied`: the request may have had its effect all the same. */
    | { readonly kind: "transient"; readonly maybeApplied: boolean; readonly retryAfterMs: number | undefined }
  );

export class ArmError extends Error {
  override readonly name = "ArmError";
  readonly failure: ArmFailure;
  /** What failed, as in `load balancer "kubernetes"`. */
  readonly doing: string;
  /** The content that Azure had accepted, where it was the operation that failed later. */
  accepted?: unknown;

  constructor(failure: ArmFailure, doing: string, options?: ErrorOptions) {
    const code = failure.code === "" ? "" : ` (${failure.code})`;
    super(`${doing}: ${failure.kind}${code}: ${failure.message}`, options);
    this.failure = failure;
    this.doing = doing;
  }
}

/** Azure said that the resource group itself does not exist; a refusal (403) or any other failure never means that. */
export function isGroupMissing(error: unknown): boolean {
  if (!(error instanceof ArmError)) return false;
  return error.failure.kind === "notFound" && error.failure.missing === "resourceGroup";
}

/** What an answer with a status of 400 or more means. */
export function failureOfResponse(response: ArmResponse, nowMs: number): ArmFailure {
  const { status, headers } = response;
  const parts = parseErrorBody(response.body);
  const facts = {
    status,
    retryAfterMs: retryAfterMsOf(headers, nowMs),
    requestId: headers["x-ms-request-id"] ?? headers["x-ms-correlation-request-id"],
  };
  return classify(parts.length > 0 ? parts : [{ code: "", message: `HTTP ${status}`, target: undefined }], facts);
}

/** What an operation means that ended Failed or Canceled: `body` is the poll's. */
export function failureOfOperation(body: unknown, requestId: string | undefined): ArmFailure {
  const parts = partsOf(field(body, "error"));
  const ended = textField(body, "status") ?? "Failed";
  const known =
    parts.length > 0 ? parts : [{ code: ended, message: `The operation ended ${ended}.`, target: undefined }];
  return classify(known, { status: undefined, retryAfterMs: undefined, requestId });
}

/** No answer, or one that makes no sense. */
export function transient(message: string, maybeApplied: boolean, code = ""): ArmFailure {
  const base = { code, message, status: undefined, details: [], requestId: undefined };
  return { kind: "transient", ...base, maybeApplied, retryAfterMs: undefined };
}

/** One that the controller finds by itself, without an answer of Azure. */
export function plainFailure(kind: "fenced" | "unauthenticated" | "busy", message: string): ArmFailure {
  const base = { code: "", message, status: undefined, details: [], requestId: undefined };
  return kind === "busy" ? { kind, ...base, retryAfterMs: undefined } : { kind, ...base };
}

/** Azure has throttled other calls of the same sort, and asked to wait for so long. */
export function throttledFor(retryAfterMs: number): ArmFailure {
  const base = { code: "", message: "", status: undefined, details: [], requestId: undefined };
  return { kind: "throttled", ...base, retryAfterMs };
}

interface Facts {
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly requestId: string | undefined;
}

function classify(parts: readonly ErrorPart[], facts: Facts): ArmFailure {
  const { kind, part } = decisive(parts, facts.status);
  const message =
    parts[0] === part || part.message === "" ? (parts[0]?.message ?? "") : `${parts[0]?.message} ${part.message}`;
  const base = {
    code: part.code,
    message: message.replace(/\s+/g, " ").trim(),
    status: facts.status,
    details: parts.slice(1),
    requestId: facts.requestId,
  };
  const texts = parts.map((each) => each.message).join("\n");
  switch (kind) {
    case "notFound":
      return { kind, ...base, missing: missingOf(part.code) };
    case "busy":
    case "throttled":
      return { kind, ...base, retryAfterMs: facts.retryAfterMs };
    case "transient":
      return { kind, ...base, maybeApplied: true, retryAfterMs: facts.retryAfterMs };
    case "notProvisioned":
      return { kind, ...base, referencedId: idsIn(texts)[0] };
    case "invalid":
      return { kind, ...base, target: parts.find((each) => each.target)?.target };
    case "inUse":
      return { kind, ...base, heldBy: idsIn(texts).at(-1) };
    case "denied":
      return { kind, ...base, ...deniedOf(texts) };
    case "conflict":
    case "superseded":
    case "unauthenticated":
    case "quota":
    case "fenced":
    case "locked":
      return { kind, ...base };
  }
}

/** The innermost known code decides; else the status does. */
function decisive(parts: readonly ErrorPart[], status: number | undefined): { kind: FailureKind; part: ErrorPart } {
  const outermost = parts[0] ?? { code: "", message: "", target: undefined };
  const byStatus = status === undefined ? undefined : kindOfStatus(status);
  if (byStatus === "conflict" || byStatus === "unauthenticated") return { kind: byStatus, part: outermost };
  for (const part of parts.toReversed()) {
    const kind = kindOfCode(part.code, status);
    if (kind !== undefined) return { kind, part };
  }
  return { kind: byStatus ?? "invalid", part: outermost };
}

function kindOfStatus(status: number): FailureKind {
  if (status >= 500 || status === 408) return "transient";
  const known: Readonly<Record<number, FailureKind>> = {
    401: "unauthenticated",
    403: "denied",
    404: "notFound",
    409: "busy",
    412: "conflict",
    429: "throttled",
  };
  return known[status] ?? "invalid";
}

function missingOf(code: string): "resource" | "parent" | "resourceGroup" | "subscription" {
  if (code === "ResourceGroupNotFound") return "resourceGroup";
  if (code === "ParentResourceNotFound") return "parent";
  return code === "SubscriptionNotFound" || code === "InvalidSubscriptionId" ? "subscription" : "resource";
}

/** Ids of resources that a message names, in order. */
function idsIn(text: string): string[] {
  return text.match(/\/subscriptions\/[^\s'",;()]*[^\s'",;().]/gi) ?? [];
}

/** A linked refusal names two pairs of action and scope: what was allowed, then what was not. */
function deniedOf(text: string): { action: string | undefined; scope: string | undefined } {
  const action = /action\(s\)\s+'([^']+)'/i.exec(text) ?? /action\s+'([^']+)'/i.exec(text);
  const scope = /linked scope(?:\(s\))?\s+'([^']+)'/i.exec(text) ?? /scope\s+'([^']+)'/i.exec(text);
  return { action: action?.[1], scope: scope?.[1] ?? idsIn(text)[0] };
}

/** `Retry-After` in its three spellings: milliseconds, seconds, or a date. */
export function retryAfterMsOf(headers: ArmResponse["headers"], nowMs: number): number | undefined {
  const milliseconds = Number(headers["retry-after-ms"] ?? headers["x-ms-retry-after-ms"] ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const text = headers["retry-after"]?.trim();
  if (text === undefined || text === "") return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
