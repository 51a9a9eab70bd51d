/**
 * The interface between the pure model (`model/`) and the code that does I/O (`server/`, `store/`, `seed/`).
 *
 *   decide(state, request)  →  the response, and the changes to apply with it
 *   apply(state, changes)   →  applies them; nothing else alters the state
 *   settle(state, now)      →  the changes due by now: operations that complete
 *
 * A refused request has no changes. The changes are plain JSON, so a durable store is a journal of them
 * and a simulation needs neither sockets nor a clock.
 */

import type { Change } from "./changes.ts";
import type { OperationFate } from "./operation.ts";

/** A request after the server has handled TLS, tokens, throttling and faults. */
export interface ArmRequest {
  readonly method: "GET" | "HEAD" | "PUT" | "PATCH" | "POST" | "DELETE";
  /** Decoded path, as the client spelled it: `/subscriptions/…`. */
  readonly path: string;
  /** Query parameters; names keep their spelling. */
  readonly query: Readonly<Record<string, string>>;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON, `undefined` for an empty body; an unparsable body is `malformed`. */
  readonly body: unknown;
  readonly malformed?: boolean;
  readonly nowMs: number;
  /** Absolute base of links in answers (`nextLink`, operation URLs), without a trailing slash. */
  readonly baseUrl: string;
}

export interface ArmResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** `undefined` means an empty body. */
  readonly body?: unknown;
}

/** Randomness and latency, provided by the caller so that the model stays pure. */
export interface Draws {
  /** A fresh GUID in canonical lower-case form. */
  guid(): string;
  /** How long the operation of this kind stays InProgress after its reply; 0 ends it at once. */
  tailMs(operation: OperationKind): number;
  /** The Retry-After of its polls in seconds, or undefined for none. */
  retryAfterSeconds(operation: OperationKind): number | undefined;
  /** An armed fault: how the operation that this request starts will end instead of succeeding. */
  readonly fate?: OperationFate;
  readonly probed?: Probed;
}

/** The health of an address according to the probe of a rule (by id); absent without a data plane. */
export type Probed = (ruleId: string, ip: string) => "up" | "down" | "unknown";

/** The key of latency and faults: resource type and verb. */
export interface OperationKind {
  /** Canonical ARM type, e.g. `Microsoft.Network/loadBalancers/backendAddressPools`. */
  readonly type: string;
  readonly verb: "GET" | "LIST" | "PUT" | "PATCH" | "POST" | "DELETE";
  /** Number of pool members, frontends…: larger bodies take longer; 0 where size does not matter. */
  readonly weight: number;
  /** Nothing in the resource needs programming (a bare load balancer, an unchanged body). */
  readonly bare: boolean;
}

/** The result of `decide`: the response, its changes, and the kind of call. */
export interface Decision {
  readonly response: ArmResponse;
  /** Empty for reads and refusals. */
  readonly changes: readonly Change[];
  /** Absent for unknown paths. */
  readonly operation?: OperationKind;
}
