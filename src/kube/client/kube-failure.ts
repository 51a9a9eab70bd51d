/**
 * Why a request to the Kubernetes API failed, as a closed set that callers can switch over. Classified by status
 * and reason, never by message: those drift between minors.
 *
 *   kind          | what happened                                | what helps
 *   --------------|----------------------------------------------|-----------------------------------------
 *   notFound      | no such object, namespace or resource        | nothing to do, or create it
 *   alreadyExists | the name is taken                            | read it
 *   conflict      | it changed (resourceVersion) or is another   | read again, decide again
 *   gone          | the version asked for is compacted           | list again
 *   invalid       | the object or request is refused as it is    | change it
 *   unsupported   | the server has no such verb or media type    | another way
 *   unauthorized  | the credentials are not accepted             | fresh credentials
 *   forbidden     | the identity lacks the right                 | grant the right, or wait: namespaces end
 *   throttled     | too many requests                            | later, see retryAfterMs
 *   transient     | network, timeout, server error, bad answer   | later
 */
import { redactTokens } from "../../core/util/text.ts";

export type KubeFailureKind =
  | "notFound"
  | "alreadyExists"
  | "conflict"
  | "gone"
  | "invalid"
  | "unsupported"
  | "unauthorized"
  | "forbidden"
  | "throttled"
  | "transient";

export interface FailureCause {
  readonly reason?: string;
  readonly field?: string;
  readonly message?: string;
}

/** The `Status` object that the server answers failures with, as far as it is read here. */
export interface KubeStatus {
  readonly kind?: string;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly FailureCause[]; readonly retryAfterSeconds?: number };
}

interface Circumstances {
  readonly status?: number;
  readonly reason?: string | undefined;
  readonly causes?: readonly FailureCause[] | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

export class KubeFailure extends Error {
  override readonly name = "KubeFailure";
  readonly kind: KubeFailureKind;
  /** HTTP status; `undefined` when no answer came. */
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly causes: readonly FailureCause[];
  /** How long the server asks the client to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: KubeFailureKind, message: string, circumstances: Circumstances = {}) {
    super(message, circumstances.cause === undefined ? {} : { cause: circumstances.cause });
    this.kind = kind;
    this.status = circumstances.status;
    this.reason = circumstances.reason;
    this.causes = circumstances.causes ?? [];
    this.retryAfterMs = circumstances.retryAfterMs;
  }
}

export function isFailure(error: unknown, ...kinds: KubeFailureKind[]): error is KubeFailure {
  return error instanceof KubeFailure && (kinds.length === 0 || kinds.includes(error.kind));
}

function kindOf(code: number, status: KubeStatus): KubeFailureKind {
  switch (code) {
    case 401:
      return "unauthorized";
    case 403:
      return "forbidden";
    case 404:
      return "notFound";
    case 405:
    case 406:
    case 415:
      return "unsupported";
    case 408:
      return "transient";
    case 409:
      return status.reason === "AlreadyExists" ? "alreadyExists" : "conflict";
    case 410:
      return "gone";
    case 422:
      // A patch that names another uid is refused as an edit of an immutable field: it means "not that object".
      return status.details?.causes?.some((cause) => cause.field === "metadata.uid") ? "conflict" : "invalid";
    case 429:
      return "throttled";
    default:
      return code >= 400 && code < 500 ? "invalid" : "transient";
  }
}

/** The `Status` of an answer. Proxies and unknown paths answer in plain text. */
export function statusOf(text: string): KubeStatus {
  try {
    const status = JSON.parse(text) as KubeStatus | null;
    if (status?.kind === "Status") return status;
  } catch {
    // not JSON: passed on as it is, below
  }
  return { message: text.slice(0, 200).trim() };
}

/** A failure that the server answered with: over HTTP, or as an ERROR event of a watch. */
export function failureOfStatus(what: string, code: number, status: KubeStatus, retryAfterMs?: number): KubeFailure {
  const seconds = status.details?.retryAfterSeconds;
  const text = [code, status.reason, status.message].filter((part) => part !== undefined && part !== "").join(" ");
  return new KubeFailure(kindOf(code, status), `${what}: ${redactTokens(text)}`, {
    status: code,
    reason: status.reason,
    causes: status.details?.causes,
    retryAfterMs: retryAfterMs ?? (typeof seconds === "number" ? seconds * 1000 : undefined),
  });
}

/** A failure without an answer: refused connections, resets, timeouts, answers that are no JSON. */
export function failureOfError(what: string, error: unknown): KubeFailure {
  if (error instanceof KubeFailure) return error;
  return new KubeFailure("transient", `${what}: ${describe(error)}`, { cause: error });
}

/** Connection errors to several addresses come as an AggregateError with an empty message. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join(", ");
  if (!(error instanceof Error)) return String(error);
  return error.message || ("code" in error && String(error.code)) || error.name;
}

/** `Retry-After` is a number of seconds or a date. */
export function retryAfterMsOf(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const seconds = Number(header);
  const afterMs = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - nowMs;
  return Number.isFinite(afterMs) ? Math.max(0, afterMs) : undefined;
}

/** `undefined` where what it is about does not exist. */
export async function unlessGone<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isFailure(error, "notFound")) return undefined;
    throw error;
  }
}
