/**
 * What a driver may be asked and what it may answer, whoever it is: a webhook server, or the built-in one.
 *
 *   status   | means                                    | and then
 *   ---------|------------------------------------------|-------------------------------------------
 *   Succ     | done                                     |
 *   Running  | begun; ask again to hear how it ended    | later, not a failure
 *   Fail     | the driver says no                       | later and later
 *   Error    | no answer: network, timeout, HTTP error  | later and later
 *   Invalid  | an answer that makes no sense            | later and later
 */
import { type EventText, eventText } from "../../events/event-reasons.ts";
import type { StringMap } from "../objects/objects.ts";

export type Answer<Result extends object = object> =
  | ({ readonly status: "Succ"; readonly msg: string } & Result)
  | NotYet;

export interface NotYet {
  readonly status: "Running" | "Fail" | "Error" | "Invalid";
  readonly msg: string;
  /** What the driver asks for at least. */
  readonly retryAfterMs?: number;
}

export interface Created {
  readonly lbInfo: StringMap;
}

export interface Addressed {
  readonly backendAddr: string;
}

export interface Ensured {
  readonly injectedInfo: StringMap;
  /** Worth saying on the object, such as that somebody else's entry does the work. */
  readonly reason?: string;
}

export type LoadBalancerVerb = "createLoadBalancer" | "ensureLoadBalancer" | "deleteLoadBalancer";
export type BackendVerb = "generateBackendAddr" | "ensureBackend" | "deregisterBackend";

/** As LBCF's events name what was done. */
const EVENT_NAMES = {
  createLoadBalancer: "CreateLoadBalancer",
  ensureLoadBalancer: "EnsureLoadBalancer",
  deleteLoadBalancer: "DeleteLoadBalancer",
  generateBackendAddr: "GenerateAddr",
  ensureBackend: "EnsureBackend",
  deregisterBackend: "Deregister",
} as const satisfies Readonly<Record<LoadBalancerVerb | BackendVerb, string>>;

/** Who leaves well says nothing: the object goes. */
type LastVerb = "deleteLoadBalancer" | "deregisterBackend";

export function doneEvent(verb: Exclude<LoadBalancerVerb | BackendVerb, LastVerb>, done: string): EventText {
  return eventText(`Succ${EVENT_NAMES[verb]}`, done);
}

export function notYetEvent(verb: LoadBalancerVerb | BackendVerb, { status, msg }: NotYet): EventText {
  const name = EVENT_NAMES[verb];
  switch (status) {
    case "Running":
      return eventText(`Running${name}`, `msg: ${msg}`);
    case "Invalid":
      return eventText(`Invalid${name}`, msg);
    case "Fail":
    case "Error":
      return eventText(`Failed${name}`, `msg: ${msg}`);
  }
}
