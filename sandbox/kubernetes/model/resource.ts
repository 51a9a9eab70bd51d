/**
 * One served resource: where it lives in the URL space and how its objects behave. The registry holds the built-in
 * ones; each established CustomResourceDefinition adds its own.
 */
import type { Draws, JsonObject, KubeObject } from "./contract.ts";
import type { Column } from "./read/column.ts";
import type { Schema } from "./schema/schema.ts";
import type { State } from "./state.ts";
import type { Cause } from "./status-error.ts";
import type { ServiceRanges } from "./service-ranges.ts";

/** What a decision may look at besides the objects it is about. */
export interface Deciding {
  readonly state: State;
  readonly nowMs: number;
  readonly draws: Draws;
  readonly ranges: ServiceRanges;
}

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
  /** Everything below `metadata`'s siblings `apiVersion` and `kind`. */
  readonly schema: Schema;
  readonly custom: boolean;
  /** Subresources with a body of the resource's own kind. */
  readonly subresources: readonly ("status" | "finalize")[];
  /** Whether `metadata.generation` is kept. */
  readonly generation: boolean;
  /** Whether a PUT without a resourceVersion overwrites. */
  readonly unconditionalUpdate: boolean;
  /** Whether a DELETE that removes the object answers with it (else with a Status). */
  readonly deleteAnswersObject: boolean;
  /** What field selectors may name besides metadata.name and metadata.namespace. */
  readonly selectableFields: readonly string[];
  readonly columns: readonly Column[];
  readonly behaviour: Behaviour;
}

/** How the objects of a kind behave on their way into the store. Every step returns a new object. */
export interface Behaviour {
  /** Body of this served version → what is stored, and back. */
  toStored?(object: KubeObject): KubeObject;
  fromStored?(object: KubeObject): KubeObject;
  /** What a client may leave out, on every write. */
  setDefaults?(object: KubeObject): KubeObject;
  prepareCreate?(object: KubeObject, deciding: Deciding): KubeObject;
  prepareUpdate?(object: KubeObject, old: KubeObject, deciding: Deciding): KubeObject;
  /** What a request to delete does to the object besides marking it. */
  prepareDelete?(object: KubeObject): KubeObject;
  /** What is wrong with the object; `old` is there on updates. */
  validate?(object: KubeObject, old: KubeObject | undefined, deciding: Deciding): Cause[];
  validateStatus?(object: KubeObject, old: KubeObject): Cause[];
  validateName?(name: string): string[];
  /** Gives out what must be unique (addresses, ports) once the object is valid. */
  allocate?(object: KubeObject, deciding: Deciding): Allocated;
}

/** The object with what it was given, or why it cannot have it. */
export interface Allocated {
  readonly object: KubeObject;
  readonly causes: Cause[];
}

export function groupVersion(resource: { group: string; version: string }): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

/** `spec` and friends of an object as a plain object, empty if absent. */
export function part(object: KubeObject, field: "spec" | "status"): JsonObject {
  const value = object[field];
  return typeof value === "object" && value !== null ? (value as JsonObject) : {};
}
