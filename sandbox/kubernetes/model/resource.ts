/**
 * A served resource: its URL, its schema and the behaviour of its objects. The registry lists the built-in resources;
 * each established CustomResourceDefinition adds its own.
 */
import type { Draws, JsonObject, KubeObject, TokenAuthority, User } from "./contract.ts";
import type { Column } from "./read/column.ts";
import type { Schema } from "./schema/schema.ts";
import type { State } from "./state.ts";
import type { Cause } from "./status-error.ts";
import type { ServiceRanges } from "./service-ranges.ts";

/** Inputs of a decision besides the request. */
export interface DecisionContext {
  readonly state: State;
  readonly nowMs: number;
  readonly draws: Draws;
  readonly ranges: ServiceRanges;
  readonly tokens?: TokenAuthority;
}

/** `status` and `finalize` have a body of the resource's own kind. */
export type SubresourceName = "status" | "finalize" | "scale" | "eviction" | "token";

export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  /** The collection that holds its objects; two served resources may share one. */
  readonly collection: string;
  /** Schema of the whole object. */
  readonly schema: Schema;
  readonly custom: boolean;
  readonly subresources: readonly SubresourceName[];
  /** Whether `metadata.generation` is kept. */
  readonly generation: boolean;
  /** Whether a PUT without a resourceVersion overwrites. */
  readonly unconditionalUpdate: boolean;
  /** Whether a DELETE that removes the object answers with it (else with a Status). */
  readonly deleteAnswersObject: boolean;
  /** Fields for field selectors, besides metadata.name and metadata.namespace. */
  readonly selectableFields: readonly string[];
  readonly columns: readonly Column[];
  readonly behaviour: Behaviour;
  /** Of a kind that is never stored: what a POST of it is answered with. */
  readonly review?: (asked: KubeObject, asker: Asker) => JsonObject;
}

export interface Asker {
  readonly context: DecisionContext;
  readonly namespace: string | undefined;
  readonly user: User;
}

/** Hooks of a kind on the write path. Each returns a new object. */
interface Behaviour {
  /** Converts between this served version and the stored form. */
  toStored?(object: KubeObject): KubeObject;
  fromStored?(object: KubeObject): KubeObject;
  /** Sets defaults, on every write. */
  setDefaults?(object: KubeObject): KubeObject;
  prepareCreate?(object: KubeObject, context: DecisionContext): KubeObject;
  prepareUpdate?(object: KubeObject, old: KubeObject, context: DecisionContext): KubeObject;
  /** Changes the object when its deletion is requested. */
  prepareDelete?(object: KubeObject): KubeObject;
  /** Returns the problems of the object; `old` is set on updates. */
  validate?(object: KubeObject, old: KubeObject | undefined, context: DecisionContext): Cause[];
  validateStatus?(object: KubeObject, old: KubeObject): Cause[];
  validateName?(name: string): string[];
  /** Allocates unique values (addresses, ports) once the object is valid. */
  allocate?(object: KubeObject, context: DecisionContext): Allocated;
}

/** The object with its allocations, or the problems. */
export interface Allocated {
  readonly object: KubeObject;
  readonly causes: Cause[];
}

export function groupVersion(resource: { group: string; version: string }): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

/** `spec` or `status` of an object; empty if absent. */
export function part(object: KubeObject, field: "spec" | "status"): JsonObject {
  const value = object[field];
  return typeof value === "object" && value !== null ? (value as JsonObject) : {};
}
