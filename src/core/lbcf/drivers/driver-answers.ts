/**
 * The answers of a driver, whether it is a webhook server or built in.
 *
 *   status   | means                                    | and then
 *   ---------|------------------------------------------|-------------------------------------------
 *   Succ     | done                                     |
 *   Running  | started; ask again for the result        | retried, not a failure
 *   Fail     | the driver refused or failed             | retried with backoff
 *   Error    | no answer: network, timeout, HTTP error  | retried with backoff
 *   Invalid  | an answer that cannot be interpreted     | retried with backoff
 */
import { type EventText, eventText } from "../../events/event-reasons.ts";
import type { StringMap } from "../objects/objects.ts";

export type Answer<Result extends object = object> =
  | ({ readonly status: "Succ"; readonly msg: string } & Result)
  | UnfinishedAnswer;

export interface UnfinishedAnswer {
  readonly status: "Running" | "Fail" | "Error" | "Invalid";
  readonly msg: string;
  /** The minimum delay that the driver asks for. */
  readonly retryAfterMs?: number;
}

export interface CreatedLoadBalancer {
  readonly lbInfo: StringMap;
}

export interface GeneratedAddress {
  readonly backendAddr: string;
}

export interface EnsuredBackend {
  readonly injectedInfo: StringMap;
  /** The condition's reason, such as that an entry of another owner has the address already. */
  readonly reason?: string;
}

/** The answer of validateLoadBalancer and validateBackend. `failed`: there was no usable answer. */
export type ValidationResult =
  | { readonly kind: "valid" }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "failed"; readonly message: string };

/** The answer of judgePodDeregister. `keep`: uids of the pods that stay registered. */
export type JudgedPods =
  | { readonly kind: "judged"; readonly keep: ReadonlySet<string> }
  | { readonly kind: "failed"; readonly message: string };

export type LoadBalancerVerb = "createLoadBalancer" | "ensureLoadBalancer" | "deleteLoadBalancer";
export type BackendVerb = "generateBackendAddr" | "ensureBackend" | "deregisterBackend";

/** The operations as LBCF's event reasons name them. */
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

export function unfinishedEvent(verb: LoadBalancerVerb | BackendVerb, { status, msg }: UnfinishedAnswer): EventText {
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
