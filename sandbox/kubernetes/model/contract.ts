/**
 * The interface between the pure model (`model/`) and its server (`server/`), which does the I/O.
 *
 *   request  →  model  →  an answer or an open watch, and the changes; only changes alter the state
 *
 * The caller passes in time, UIDs and randomness, so a simulation runs the same code without sockets or a clock.
 */

/** Any JSON object; its fields are untrusted. */
export interface JsonObject {
  [field: string]: unknown;
}

interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: JsonObject[];
}

/** A Kubernetes object. Stored objects are immutable: every change makes a new one. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

export type ChangeType = "ADDED" | "MODIFIED" | "DELETED";

/** One change of the state: also one record of the journal and one event for watchers. */
export interface Change {
  readonly revision: number;
  readonly type: ChangeType;
  /** `services`, `leases.coordination.k8s.io`: the plural and its group. */
  readonly collection: string;
  /** The new state; for DELETED the last state, with the deletion's resourceVersion. */
  readonly object: KubeObject;
}

/** A change with the previous object, for history and watchers. */
export interface HistoryEntry extends Change {
  readonly previous: KubeObject | undefined;
}

/** Randomness, provided by the caller. */
export interface Draws {
  uuid(): string;
  /** A whole number from 0 up to, not including, `below`. */
  integer(below: number): number;
}

/** Who sends a request, as authentication found out. */
export interface User {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Makes and reads tokens of service accounts, provided by the caller: the model knows no keys. */
export interface TokenAuthority {
  readonly issuer: string;
  sign(claims: JsonObject): string;
  /** The claims of a token that this authority signed; undefined for any other text. */
  read(token: string): JsonObject | undefined;
}

export interface ApiRequest {
  readonly method: string;
  /** Path without the query, segments still percent-encoded. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly accept: string;
  readonly contentType: string;
  /** Absent: a caller in this process, who may do everything. */
  readonly user?: User;
  /** As whom the caller wants to be treated: `kubectl --as`. */
  readonly impersonated?: User;
  /** Names the writer in `managedFields` where the query does not. */
  readonly userAgent?: string;
  /** The parsed body; `undefined` if there was none. */
  readonly body?: unknown;
  /** Why the body could not be parsed. */
  readonly bodyProblem?: string;
}

export interface Answer {
  readonly kind: "answer";
  readonly status: number;
  /** An object is sent as JSON, a string and bytes as they are. */
  readonly body: unknown;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as `Warning: 299` headers. */
  readonly warnings?: readonly string[];
}

/** An open watch: the server feeds it history and sends the frames that it returns. */
export interface OpenWatch {
  readonly kind: "watch";
  /** What it watches. */
  readonly collection: string;
  /** Frames to send at once. */
  readonly first: readonly WatchFrame[];
  /** True when the stream ends after `first` (its version is too old). */
  readonly ended: boolean;
  readonly timeoutMs: number;
  /** The frames for one change. */
  accept(entry: HistoryEntry, nowMs: number): readonly WatchFrame[];
  /** A bookmark; undefined if the client did not ask for bookmarks. */
  bookmark(revision: number): WatchFrame | undefined;
}

export interface WatchFrame {
  readonly type: ChangeType | "BOOKMARK" | "ERROR";
  readonly object: unknown;
}

export type Reply = Answer | OpenWatch;
