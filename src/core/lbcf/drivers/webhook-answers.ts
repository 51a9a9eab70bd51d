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
import { type Json, listOf, objectOf, textOf } from "../objects/read-json.ts";
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

/** For hooks that are retried: Succ, Fail or Running. `resultOf` returns the result of Succ, or what is wrong with it. */
function retryableAnswer<Result extends object>(
  hook: Hook,
  reply: Reply,
  resultOf: (json: Json) => Result | string,
): Answer<Result> {
  const read = bodyOf(hook, reply);
  if (!("json" in read)) return read;
  const json = objectOf(read.json);
  const status = fieldOf(json, "status");
  const msg = messageOf(json);
  const retryAfterMs = retryAfterMsOf(json);
  const later = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (status === "Fail" || status === "Running") return { status, msg, ...later };
  if (status !== "Succ") {
    const what = cut(JSON.stringify(status) ?? "nothing", LONGEST_QUOTE);
    return { status: "Invalid", msg: `${hook} answered status ${what}: it must be Succ, Fail or Running` };
  }
  const result = resultOf(json);
  return typeof result === "string"
    ? { status: "Invalid", msg: `${hook} answered Succ, but ${result}` }
    : { ...result, status, msg };
}

/** A number or, as in LBCF's documents, a string; zero and negative values count as absent. */
function retryAfterMsOf(json: Json): number | undefined {
  const seconds = Number(fieldOf(json, "minRetryDelayInSeconds"));
  return seconds > 0 ? seconds * 1_000 : undefined;
}

/** Absent and `null` are empty. A string is what is wrong. */
function mapOf(json: Json, field: string): StringMap | string {
  const value = fieldOf(json, field) ?? {};
  if (typeof value !== "object" || Array.isArray(value)) return `${field} is no map of texts`;
  const entries = Object.entries(value as Json);
  const wrong = entries.find(([, each]) => typeof each !== "string");
  if (wrong !== undefined) return `${field}.${cut(wrong[0], LONGEST_QUOTE)} is no text: write it in quotes`;
  const weight = entries.reduce((sum, [key, each]) => sum + key.length + textOf(each).length, 0);
  return weight > LONGEST_TEXT ? `${field} is longer than ${LONGEST_TEXT} characters` : (value as StringMap);
}

export function plainAnswer(hook: Hook, reply: Reply): Answer {
  return retryableAnswer(hook, reply, () => ({}));
}

export function createAnswer(reply: Reply): Answer<CreatedLoadBalancer> {
  return retryableAnswer("createLoadBalancer", reply, (json) => {
    const lbInfo = mapOf(json, "lbInfo");
    return typeof lbInfo === "string" ? lbInfo : { lbInfo };
  });
}

export function addressAnswer(reply: Reply): Answer<GeneratedAddress> {
  return retryableAnswer("generateBackendAddr", reply, (json) => {
    const backendAddr = fieldOf(json, "backendAddr");
    if (typeof backendAddr !== "string" || backendAddr === "") return "without a backendAddr";
    return backendAddr.length > LONGEST_TEXT
      ? `backendAddr is longer than ${LONGEST_TEXT} characters`
      : { backendAddr };
  });
}

export function ensureAnswer(reply: Reply): Answer<EnsuredBackend> {
  return retryableAnswer("ensureBackend", reply, (json) => {
    const injectedInfo = mapOf(json, "injectedInfo");
    return typeof injectedInfo === "string" ? injectedInfo : { injectedInfo };
  });
}

/** For the validating hooks: `succ`, `msg`. */
export function validationOf(hook: Hook, reply: Reply): ValidationResult {
  const read = bodyOf(hook, reply);
  if (!("json" in read)) return { kind: "failed", message: read.msg };
  const json = objectOf(read.json);
  const succ = fieldOf(json, "succ");
  if (typeof succ !== "boolean") return { kind: "failed", message: `${hook} answered without "succ"` };
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
