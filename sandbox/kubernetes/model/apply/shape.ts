/**
 * How the values of a schema merge: which lists and maps are one value (atomic), which are sets, and which have
 * elements with an identity. A schema that says nothing of a value (`{}`) takes the form of the value: maps merge, lists
 * are atomic.
 */
import { isObject } from "../json.ts";
import type { Schema } from "../schema/schema.ts";
import { resolved } from "../schema/types.ts";

type Form = "map" | "list" | "scalar" | "none";

/** `none` for null and for what is absent: these take the form of the other side. */
export function formOf(value: unknown): Form {
  if (value === undefined || value === null) return "none";
  if (Array.isArray(value)) return "list";
  return isObject(value) ? "map" : "scalar";
}

const ANYTHING: Schema = {};

/** The schema of a map's member; undefined if the schema has no such field. */
export function memberShape(schema: Schema, name: string): Schema | undefined {
  const named = namedField(schema, name);
  if (named !== undefined) return named;
  const { additionalProperties, properties } = schema;
  if (typeof additionalProperties === "object") return resolved(additionalProperties);
  const open = properties === undefined || additionalProperties === true;
  return open || schema["x-kubernetes-preserve-unknown-fields"] === true ? ANYTHING : undefined;
}

/** A field that the schema names, rather than a key of a map. */
export function namedField(schema: Schema, name: string): Schema | undefined {
  const { properties } = schema;
  if (properties === undefined || !Object.hasOwn(properties, name)) return undefined;
  const field = properties[name];
  return field && resolved(field);
}

export function itemShape(schema: Schema): Schema {
  return schema.items === undefined ? ANYTHING : resolved(schema.items);
}

/** The keys of a list whose elements have an identity, `[]` of a set; undefined for an atomic list. */
export function listKeys(schema: Schema): readonly string[] | undefined {
  switch (schema["x-kubernetes-list-type"]) {
    case "map":
      return schema["x-kubernetes-list-map-keys"] ?? [];
    case "set":
      return [];
    case "atomic":
      return undefined;
    case undefined: {
      if (!schema["x-kubernetes-patch-strategy"]?.startsWith("merge")) return undefined;
      const key = schema["x-kubernetes-patch-merge-key"];
      return key === undefined ? [] : [key];
    }
  }
}

/** Whether the value is owned and replaced as a whole. */
export function isAtomic(schema: Schema, form: Form): boolean {
  if (form === "map") return schema["x-kubernetes-map-type"] === "atomic";
  return form !== "list" || listKeys(schema) === undefined;
}

/** The element of a path for an item of a list with keys, or of a set; undefined if the item has no identity. */
export function itemElement(schema: Schema, item: unknown): string | undefined {
  const keys = listKeys(schema) ?? [];
  if (keys.length === 0) return `v:${JSON.stringify(item)}`;
  if (!isObject(item)) return undefined;
  const items = itemShape(schema);
  const identity: Record<string, unknown> = {};
  for (const key of keys.toSorted()) {
    const value = item[key] ?? namedField(items, key)?.default;
    if (value !== undefined) identity[key] = value;
  }
  return Object.keys(identity).length === 0 ? undefined : `k:${JSON.stringify(identity)}`;
}

/** The schema below an element of a path. */
export function shapeAt(schema: Schema, element: string): Schema {
  return element.startsWith("f:") ? (memberShape(schema, element.slice(2)) ?? ANYTHING) : itemShape(schema);
}

/** The elements of a path as conflicts print them: `.spec.ports[port=80,protocol="TCP"].name`. */
export function shownPath(path: readonly string[]): string {
  return path.map(shownElement).join("");
}

function shownElement(element: string): string {
  const text = element.slice(2);
  if (element.startsWith("f:")) return `.${text}`;
  if (element.startsWith("v:")) return `[=${text}]`;
  const identity = Object.entries(JSON.parse(text) as Record<string, unknown>);
  return `[${identity.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(",")}]`;
}
