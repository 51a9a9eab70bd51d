/**
 * LBCF's webhooks on the wire: what is sent, and what an answer means. Empty maps travel as `null`, as drivers know it.
 * Fields that LBCF documents and forgets to fill (`lbInfo` when a load balancer is ensured, `parameters` when an address
 * is asked for) are filled here: a driver that does not expect them does not notice.
 */
import type { Addressed, Answer, Created, Ensured, NotYet } from "./driver-answers.ts";
import { listOf, objectOf, stringMapOf, textOf } from "./read-json.ts";
import type { BackendRecord, LoadBalancer, StringMap } from "./objects.ts";
import type { Verdict } from "./load-balancer-use.ts";
import { portOnWire } from "./record-spec.ts";

export const HOOKS = [
  "validateLoadBalancer",
  "createLoadBalancer",
  "ensureLoadBalancer",
  "deleteLoadBalancer",
  "validateBackend",
  "generateBackendAddr",
  "ensureBackend",
  "deregisterBackend",
  "judgePodDeregister",
  "healthz",
] as const;
export type Hook = (typeof HOOKS)[number];

export const DEFAULT_TIMEOUT_MS = 10_000;

/** `undefined` and empty are `null` on the wire. */
function map(value: StringMap | undefined): StringMap | null {
  return value === undefined || Object.keys(value).length === 0 ? null : value;
}

/** `recordID` stays the same over all retries, `retryID` never does. */
function retryable(hook: Hook, uid: string, retryID: string) {
  return { recordID: `${hook}(${uid})`, retryID, dryRun: false };
}

export function validateLoadBalancerRequest(
  { spec }: Pick<LoadBalancer, "spec">,
  operation: "Create" | "Update",
  oldAttributes: StringMap,
) {
  const old = Object.keys(oldAttributes).length === 0 ? {} : { oldAttributes };
  return { lbSpec: map(spec.lbSpec), operation, attributes: map(spec.attributes), ...old, dryRun: false };
}

export function createLoadBalancerRequest({ metadata, spec }: LoadBalancer, retryID: string) {
  const ids = retryable("createLoadBalancer", metadata.uid, retryID);
  return { ...ids, lbSpec: map(spec.lbSpec), attributes: map(spec.attributes) };
}

export function loadBalancerRequest(
  hook: "ensureLoadBalancer" | "deleteLoadBalancer",
  { metadata, spec, status }: LoadBalancer,
  retryID: string,
) {
  const lbInfo = map(status.lbInfo ?? spec.lbSpec);
  return { ...retryable(hook, metadata.uid, retryID), lbInfo, attributes: map(spec.attributes) };
}

export interface BackendQuestion {
  readonly backendType: "Pod" | "Service" | "Static";
  readonly lbInfo: StringMap;
  readonly operation: "Create" | "Update";
  readonly parameters: StringMap;
  readonly oldParameters: StringMap;
}

/** The old parameters go in both spellings: LBCF's code sends one, its documents show the other. */
export function validateBackendRequest({ backendType, lbInfo, operation, parameters, oldParameters }: BackendQuestion) {
  const old = Object.keys(oldParameters).length === 0 ? {} : { OldParameters: oldParameters, oldParameters };
  return { backendType, lbInfo: map(lbInfo), operation, parameters: map(parameters), ...old, dryRun: false };
}

/** The object behind the backend, as the API server has it. */
export type BackendSubject =
  | { readonly kind: "Pod"; readonly pod: object }
  | { readonly kind: "Service"; readonly service: object; readonly nodeAddresses: readonly object[] };

export function generateBackendAddrRequest(
  { metadata, spec }: BackendRecord,
  subject: BackendSubject,
  retryID: string,
) {
  const { lbInfo, lbAttributes, parameters, backend } = spec;
  const common = {
    ...retryable("generateBackendAddr", metadata.uid, retryID),
    lbInfo: map(lbInfo),
    lbAttributes: map(lbAttributes),
    parameters: map(parameters),
  };
  const port = backend.kind === "Static" ? undefined : portOnWire(backend.port);
  if (subject.kind === "Pod") return { ...common, podBackend: { pod: subject.pod, port } };
  const nodeName = backend.kind === "Service" ? backend.nodeName : undefined;
  const { service, nodeAddresses } = subject;
  return { ...common, serviceBackend: { service, port, nodeName, nodeAddresses } };
}

export function backendRequest(
  hook: "ensureBackend" | "deregisterBackend",
  { metadata, spec, status }: BackendRecord,
  retryID: string,
) {
  return {
    ...retryable(hook, metadata.uid, retryID),
    lbInfo: map(spec.lbInfo),
    backendAddr: status.backendAddr,
    parameters: map(spec.parameters),
    injectedInfo: map(status.injectedInfo),
  };
}

export function judgePodDeregisterRequest(notReadyPods: readonly object[]) {
  return { notReadyPods, dryRun: false };
}

/** An HTTP answer: its status, and its body as text. */
export interface Reply {
  readonly status: number;
  readonly body: string;
}

/** The JSON of an answer, or why it is none. */
function bodyOf(hook: Hook, { status, body }: Reply): { readonly json: unknown } | NotYet {
  if (status !== 200) return { status: "Error", msg: `${hook} answered HTTP ${status}${quoted(body)}` };
  try {
    return { json: JSON.parse(body) as unknown };
  } catch {
    return { status: "Invalid", msg: `${hook} answered what is no JSON${quoted(body)}` };
  }
}

const LONGEST_QUOTE = 200;

function quoted(body: string): string {
  const text = body.trim().replaceAll(/\s+/g, " ");
  return text === "" ? "" : `: ${text.length <= LONGEST_QUOTE ? text : `${text.slice(0, LONGEST_QUOTE)}…`}`;
}

/** For hooks that are asked again: Succ, Fail or Running. */
function retryableAnswer<Result extends object>(
  hook: Hook,
  reply: Reply,
  resultOf: (json: ReturnType<typeof objectOf>) => Result | string,
): Answer<Result> {
  const read = bodyOf(hook, reply);
  if (!("json" in read)) return read;
  const json = objectOf(read.json);
  const msg = textOf(json["msg"]);
  const status = textOf(json["status"]);
  const retryAfterMs = retryAfterMsOf(json);
  const later = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (status === "Fail" || status === "Running") return { status, msg, ...later };
  if (status !== "Succ") {
    return { status: "Invalid", msg: `${hook} answered status "${status}": it must be Succ, Fail or Running` };
  }
  const result = resultOf(json);
  return typeof result === "string" ? { status: "Invalid", msg: result } : { ...result, status, msg };
}

/** A number, or as LBCF's documents have it, a text; 0 and less is none. */
function retryAfterMsOf(json: ReturnType<typeof objectOf>): number | undefined {
  const seconds = Number(json["minRetryDelayInSeconds"] ?? json["minRetryDelayinSeconds"]);
  return seconds > 0 ? seconds * 1_000 : undefined;
}

export function plainAnswer(hook: Hook, reply: Reply): Answer {
  return retryableAnswer(hook, reply, () => ({}));
}

export function createAnswer(reply: Reply): Answer<Created> {
  return retryableAnswer("createLoadBalancer", reply, (json) => ({ lbInfo: stringMapOf(json["lbInfo"]) }));
}

export function addressAnswer(reply: Reply): Answer<Addressed> {
  return retryableAnswer("generateBackendAddr", reply, (json) => {
    const backendAddr = textOf(json["backendAddr"]);
    return backendAddr === "" ? "generateBackendAddr answered Succ without a backendAddr" : { backendAddr };
  });
}

export function ensureAnswer(reply: Reply): Answer<Ensured> {
  return retryableAnswer("ensureBackend", reply, (json) => ({ injectedInfo: stringMapOf(json["injectedInfo"]) }));
}

/** For hooks that are asked once: `succ`, `msg`. */
export function verdictOf(hook: Hook, reply: Reply): Verdict {
  const read = bodyOf(hook, reply);
  if (!("json" in read)) return { kind: "failed", message: read.msg };
  const { succ, msg } = objectOf(read.json);
  if (typeof succ !== "boolean") return { kind: "failed", message: `${hook} answered without "succ"` };
  return succ ? { kind: "valid" } : { kind: "refused", message: textOf(msg) || "it gave no reason" };
}

/** The uids of the pods that stay, or why nobody knows. */
export function judgementOf(reply: Reply): { readonly keep: ReadonlySet<string> } | { readonly problem: string } {
  const verdict = verdictOf("judgePodDeregister", reply);
  if (verdict.kind !== "valid") return { problem: verdict.message };
  const { doNotDeregister } = objectOf(JSON.parse(reply.body));
  const uids = listOf(doNotDeregister).map((pod) => textOf(objectOf(objectOf(pod)["metadata"])["uid"]));
  return { keep: new Set(uids.filter((uid) => uid !== "")) };
}

/** `undefined`: it does not speak of its health. LBCF never asked, so many drivers have no proper answer. */
export function healthOf(reply: Reply): { readonly healthy: boolean; readonly message: string } | undefined {
  const read = bodyOf("healthz", reply);
  if (!("json" in read)) return undefined;
  const { healthy, msg } = objectOf(read.json);
  if (typeof healthy !== "boolean") return undefined;
  return { healthy, message: healthy ? "" : textOf(msg) || "its healthz says so" };
}
