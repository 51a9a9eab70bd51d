/**
 * Parses the answers of webhook drivers, as strictly as LBCF's decoder: a field of the wrong type makes the whole answer
 * invalid. Lengths are bounded, since answers are stored in objects, whose size is limited.
 *
 *   too long     | then
 *   -------------|------------------------------
 *   msg          | is cut
 *   anything else| the answer is Invalid
 */
import type { JudgedPods } from "./driver-answers.ts";
import type {
  GeneratedAddress,
  Answer,
  CreatedLoadBalancer,
  EnsuredBackend,
  UnfinishedAnswer,
} from "./driver-answers.ts";
import type { ValidationResult } from "./driver-answers.ts";
import type { StringMap } from "../objects/objects.ts";
import { isGiven, type Json, listOf, objectOf, textOf } from "../objects/read-json.ts";
import type { Hook } from "./webhook-protocol.ts";

/** An HTTP response: its status, and its body as text. */
export interface Reply {
  readonly status: number;
  readonly body: string;
}

const LONGEST_QUOTE = 200;
const LONGEST_MESSAGE = 1_024;
/** Of an address, and of all keys and values of a map together. */
const LONGEST_TEXT = 65_536;

/** The response's JSON, or why there is none. */
function bodyOf(hook: Hook, { status, body }: Reply): { readonly json: unknown } | UnfinishedAnswer {
  if (status !== 200) return { status: "Error", msg: `${hook} answered HTTP ${status}${quoted(body)}` };
  try {
    return { json: JSON.parse(body) as unknown };
  } catch {
    return { status: "Invalid", msg: `${hook} answered what is no JSON${quoted(body)}` };
  }
}

function quoted(body: string): string {
  const text = body
    .slice(0, 2 * LONGEST_QUOTE)
    .trim()
    .replaceAll(/\s+/g, " ");
  return text === "" ? "" : `: ${cut(text, LONGEST_QUOTE)}`;
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}

/** Field names match case-insensitively, as in LBCF's decoder. */
function fieldOf(json: Json, name: string): unknown {
  if (Object.hasOwn(json, name)) return json[name];
  const key = Object.keys(json).find((each) => each.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : json[key];
}

function messageOf(json: Json): string {
  return cut(textOf(fieldOf(json, "msg")), LONGEST_MESSAGE);
}

/** The types that LBCF decodes fields into. Absent and `null` are the empty value of each. */
type FieldType = "text" | "seconds" | "map";

/** What is wrong with the type of one of the fields, whatever the status says; `undefined` when nothing is. */
function mistyped(json: Json, fields: Readonly<Record<string, FieldType>>): string | undefined {
  for (const [name, type] of Object.entries(fields)) {
    const value = fieldOf(json, name);
    const mistake = isGiven(value) ? MISTAKES[type](value) : undefined;
    if (mistake !== undefined) return `${name}${mistake}`;
  }
  return undefined;
}

const MISTAKES: Readonly<Record<FieldType, (value: unknown) => string | undefined>> = {
  text: (value) => (typeof value === "string" ? undefined : " is no text: write it in quotes"),
  seconds: (value) =>
    wholeSeconds(value) === undefined ? ` ${brief(value)} is no whole number of seconds` : undefined,
  map: mapMistake,
};

function mapMistake(value: unknown): string | undefined {
  if (typeof value !== "object" || Array.isArray(value)) return " is no map of texts";
  const entries = Object.entries(objectOf(value));
  const wrong = entries.find(([, each]) => isGiven(each) && typeof each !== "string");
  if (wrong !== undefined) return `.${cut(wrong[0], LONGEST_QUOTE)} is no text: write it in quotes`;
  const weight = entries.reduce((sum, [key, each]) => sum + key.length + textOf(each).length, 0);
  return weight > LONGEST_TEXT ? ` is longer than ${LONGEST_TEXT} characters` : undefined;
}

const MOST_SECONDS = 2 ** 31 - 1;

/** LBCF's field is an int32; its documents write it in quotes. */
function wholeSeconds(value: unknown): number | undefined {
  const isWritten = typeof value === "number" || (typeof value === "string" && /^-?\d{1,10}$/.test(value));
  const seconds = isWritten ? Number(value) : Number.NaN;
  return Number.isInteger(seconds) && Math.abs(seconds) <= MOST_SECONDS ? seconds : undefined;
}

function brief(value: unknown): string {
  return cut(JSON.stringify(value) ?? "nothing", LONGEST_QUOTE);
}

/** For hooks that are retried: Succ, Fail or Running. `resultOf` returns the result of Succ, or what is wrong with it. */
function retryableAnswer<Result extends object>(
  hook: Hook,
  reply: Reply,
  fields: Readonly<Record<string, FieldType>>,
  resultOf: (json: Json) => Result | string,
): Answer<Result> {
  const read = bodyOf(hook, reply);
  if (!("json" in read)) return read;
  const json = objectOf(read.json);
  const status = fieldOf(json, "status");
  const msg = messageOf(json);
  if (status !== "Succ" && status !== "Fail" && status !== "Running") {
    const why = `${hook} answered status ${brief(status)}: it must be Succ, Fail or Running`;
    return { status: "Invalid", msg: msg === "" ? why : `${why}; msg: ${msg}` };
  }
  const mistake = mistyped(json, { msg: "text", minRetryDelayInSeconds: "seconds", ...fields });
  if (mistake !== undefined) return { status: "Invalid", msg: `${hook} answered ${status}, but ${mistake}` };
  if (status !== "Succ") return { status, msg, ...retryAfter(json) };
  const result = resultOf(json);
  return typeof result === "string"
    ? { status: "Invalid", msg: `${hook} answered Succ, but ${result}` }
    : { ...result, status, msg };
}

/** Zero and negative values count as absent. */
function retryAfter(json: Json): { readonly retryAfterMs?: number } {
  const seconds = wholeSeconds(fieldOf(json, "minRetryDelayInSeconds")) ?? 0;
  return seconds > 0 ? { retryAfterMs: seconds * 1_000 } : {};
}

/** A value of `null` is an empty text. */
function mapOf(json: Json, field: string): StringMap {
  const entries = Object.entries(objectOf(fieldOf(json, field)));
  return Object.fromEntries(entries.map(([key, value]) => [key, textOf(value)]));
}

export function plainAnswer(hook: Hook, reply: Reply): Answer {
  return retryableAnswer(hook, reply, {}, () => ({}));
}

/** Its injectedInfo is not used, but a wrong type makes it invalid. */
export function deregisterAnswer(reply: Reply): Answer {
  return retryableAnswer("deregisterBackend", reply, { injectedInfo: "map" }, () => ({}));
}

export function createAnswer(reply: Reply): Answer<CreatedLoadBalancer> {
  return retryableAnswer("createLoadBalancer", reply, { lbInfo: "map" }, (json) => ({ lbInfo: mapOf(json, "lbInfo") }));
}

export function addressAnswer(reply: Reply): Answer<GeneratedAddress> {
  return retryableAnswer("generateBackendAddr", reply, { backendAddr: "text" }, (json) => {
    const backendAddr = textOf(fieldOf(json, "backendAddr"));
    if (backendAddr === "") return "without a backendAddr";
    return backendAddr.length > LONGEST_TEXT
      ? `backendAddr is longer than ${LONGEST_TEXT} characters`
      : { backendAddr };
  });
}

export function ensureAnswer(reply: Reply): Answer<EnsuredBackend> {
  return retryableAnswer("ensureBackend", reply, { injectedInfo: "map" }, (json) => ({
    injectedInfo: mapOf(json, "injectedInfo"),
  }));
}

/** For the validating hooks: `succ`, `msg`. */
export function validationOf(hook: Hook, reply: Reply): ValidationResult {
  const read = bodyOf(hook, reply);
  if (!("json" in read)) return { kind: "failed", message: read.msg };
  const json = objectOf(read.json);
  const succ = fieldOf(json, "succ");
  if (typeof succ !== "boolean") return { kind: "failed", message: `${hook} answered without "succ"` };
  const mistake = mistyped(json, { msg: "text" });
  if (mistake !== undefined) return { kind: "failed", message: `${hook} answered, but ${mistake}` };
  return succ ? { kind: "valid" } : { kind: "refused", message: messageOf(json) || "it gave no reason" };
}

/** The uids of the pods that stay registered. One invalid entry invalidates the whole answer. */
export function judgedPodsOf(reply: Reply): JudgedPods {
  const hook = "judgePodDeregister";
  const validation = validationOf(hook, reply);
  if (validation.kind !== "valid") return { kind: "failed", message: validation.message };
  const pods = fieldOf(objectOf(JSON.parse(reply.body)), "doNotDeregister") ?? [];
  const uids = listOf(pods).map((pod) => textOf(fieldOf(objectOf(fieldOf(objectOf(pod), "metadata")), "uid")));
  if (!Array.isArray(pods) || uids.includes("")) {
    return { kind: "failed", message: `${hook} answered a doNotDeregister that is no list of pods with their uids` };
  }
  return { kind: "judged", keep: new Set(uids) };
}

/** `undefined` when the answer tells no health. LBCF never called healthz, so many drivers do not implement it. */
export function healthOf(reply: Reply): { readonly healthy: boolean; readonly message: string } | undefined {
  const read = bodyOf("healthz", reply);
  if (!("json" in read)) return undefined;
  const json = objectOf(read.json);
  const healthy = fieldOf(json, "healthy");
  if (typeof healthy !== "boolean") return undefined;
  return { healthy, message: healthy ? "" : messageOf(json) || "its healthz says so" };
}
