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
import type { StringMap } from "./objects.ts";

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
const EVENT_NAMES: Readonly<Record<LoadBalancerVerb | BackendVerb, string>> = {
  createLoadBalancer: "CreateLoadBalancer",
  ensureLoadBalancer: "EnsureLoadBalancer",
  deleteLoadBalancer: "DeleteLoadBalancer",
  generateBackendAddr: "GenerateAddr",
  ensureBackend: "EnsureBackend",
  deregisterBackend: "Deregister",
};

export interface Telling {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

export function eventOf(verb: LoadBalancerVerb | BackendVerb, answer: Answer, done: string): Telling {
  const name = EVENT_NAMES[verb];
  switch (answer.status) {
    case "Succ":
      return { type: "Normal", reason: `Succ${name}`, message: done };
    case "Running":
      return { type: "Normal", reason: `Running${name}`, message: `msg: ${answer.msg}` };
    case "Invalid":
      return { type: "Warning", reason: `Invalid${name}`, message: answer.msg };
    case "Fail":
    case "Error":
      return { type: "Warning", reason: `Failed${name}`, message: `msg: ${answer.msg}` };
  }
}
