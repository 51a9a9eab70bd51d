/**
 * What every object that the API server sends has in common, read into `objects.ts`: metadata, conditions, policies,
 * ports. Each kind has its own reader beside its decisions (`read-backend-group.ts` and the like). Readers fill in
 * defaults, translate deprecated spellings and drop what the controller does not use. They never refuse: an object that
 * passed the schema is read as far as possible.
 */
import { parseDurationMs } from "./durations.ts";
import type { Condition, EnsurePolicy, Meta, OwnerReference, Port, StringMap } from "./objects.ts";
import {
  isGiven,
  listOf,
  numberOf,
  objectOf,
  optional,
  rawMetaOf,
  stringMapOf,
  textOf,
  type Json,
} from "./read-json.ts";

const DEFAULT_PERIOD_MS = 60_000;
/** Bounds of what an object may ask for: a driver is not called continuously. */
const SHORTEST_PERIOD_MS = 10_000;
const LONGEST_PERIOD_MS = (2 ** 31 - 1) * 1_000;

/** Any stored object. */
export interface Stored {
  readonly metadata: object;
  readonly spec?: unknown;
  readonly status?: unknown;
}

export function parts(object: Stored): { metadata: Json; spec: Json; status: Json } {
  const json = objectOf(object);
  return { metadata: objectOf(json["metadata"]), spec: objectOf(json["spec"]), status: objectOf(json["status"]) };
}

export function metaOf(metadata: Json): Meta {
  const owners = listOf(metadata["ownerReferences"]).map(objectOf);
  const controller = owners.find((owner) => owner["controller"] === true) ?? owners[0];
  return {
    ...rawMetaOf(metadata),
    generation: numberOf(metadata["generation"]) ?? 0,
    ...(controller !== undefined && { owner: ownerOf(controller) }),
  };
}

function ownerOf(owner: Json): OwnerReference {
  return { kind: textOf(owner["kind"]), name: textOf(owner["name"]), uid: textOf(owner["uid"]) };
}

export function conditionsOf(status: Json): Condition[] {
  return listOf(status["conditions"]).map((each) => {
    const condition = objectOf(each);
    return {
      type: textOf(condition["type"]),
      status: textOf(condition["status"]) as Condition["status"],
      ...optional("reason", textOf(condition["reason"]) || undefined),
      ...optional("message", textOf(condition["message"]) || undefined),
      ...optional("lastTransitionTime", textOf(condition["lastTransitionTime"]) || undefined),
      ...optional("observedGeneration", numberOf(condition["observedGeneration"])),
    };
  });
}

/** `minPeriod` is a BackendGroup's, `resyncPeriodInSeconds` a Bind's. */
export function ensurePolicyOf(value: unknown): EnsurePolicy {
  const policy = objectOf(value);
  if (policy["policy"] !== "Always") return { policy: "IfNotSucc" };
  const seconds = numberOf(policy["resyncPeriodInSeconds"]);
  const givenMs = seconds === undefined ? parseDurationMs(textOf(policy["minPeriod"])) : seconds * 1_000;
  const periodMs = Math.min(LONGEST_PERIOD_MS, Math.max(SHORTEST_PERIOD_MS, givenMs ?? DEFAULT_PERIOD_MS));
  return { policy: "Always", periodMs: Math.round(periodMs / 1_000) * 1_000 }; // records keep whole seconds
}

export function portOf(value: unknown): Port {
  const port = objectOf(value);
  const written = textOf(port["protocol"]);
  const protocol = written.toUpperCase() === "UDP" ? "UDP" : "TCP";
  return {
    port: numberOf(port["port"]) || numberOf(port["portNumber"]) || 0,
    protocol,
    ...(written !== protocol && written.toUpperCase() === protocol && { spelling: written }),
  };
}

export function presentMap(value: unknown): StringMap | undefined {
  return isGiven(value) ? stringMapOf(value) : undefined;
}
