/**
 * The seam between the emulator's pure half (`model/`) and everything that touches the world
 * (`server/`, `store/`, `seed/`).
 *
 *   decide(state, request)  →  what Azure answers, and the changes that answer stands for
 *   apply(state, changes)   →  makes them true; nothing else alters the state
 *   settle(state, now)      →  the changes that time alone brings: operations that end
 *
 * A refused request has no changes. The changes are plain JSON, so a durable store is a journal of them
 * and a simulation needs neither sockets nor a clock.
 */

import type { Change } from "./changes.ts";
import type { OperationFate } from "./operation.ts";

/** Where requests come from once the skin has done TLS, tokens, throttling and faults. */
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

/** Numbers that are drawn outside, so that the model itself is a function. */
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

/** What the probe of a rule (by id) says about an address; absent where nobody probes. */
export type Probed = (ruleId: string, ip: string) => "up" | "down" | "unknown";

/** What latency and faults are keyed by: the resource type and the verb. */
export interface OperationKind {
  /** Canonical ARM type, e.g. `Microsoft.Network/loadBalancers/backendAddressPools`. */
  readonly type: string;
  readonly verb: "GET" | "LIST" | "PUT" | "PATCH" | "POST" | "DELETE";
  /** Pool members, frontends… whatever makes this kind slower; 0 where it does not matter. */
  readonly weight: number;
  /** Nothing in the resource needs programming (a bare load balancer, an unchanged body). */
  readonly bare: boolean;
}

/** What `decide` says: the answer, what it makes true once applied, and what kind of call it was. */
export interface Decision {
  readonly response: ArmResponse;
  /** Empty for reads and refusals. */
  readonly changes: readonly Change[];
  /** Absent where the path names nothing that the emulator knows. */
  readonly operation?: OperationKind;
}
