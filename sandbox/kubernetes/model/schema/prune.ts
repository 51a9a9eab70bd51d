/** Removes fields that a structural schema does not know, and lists their paths. */
import type { JsonObject } from "../contract.ts";
import { isObject, setField } from "../json.ts";
import type { Schema } from "./schema.ts";

/** Fields of every embedded object, independent of its schema. */
const EMBEDDED = ["apiVersion", "kind", "metadata"];

/** The value without unknown fields; their paths are added to `unknown`. The same value if there are none. */
export function prune(schema: Schema, value: unknown, unknown: string[], path = ""): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return value;
    return mapUnlessSame(value, (item, index) => prune(items, item, unknown, `${path}[${index}]`));
  }
  return isObject(value) ? pruneObject(schema, value, unknown, path) : value;
}

function pruneObject(schema: Schema, value: JsonObject, unknown: string[], path: string): JsonObject {
  const kept: JsonObject = {};
  let changed = false;
  for (const [name, member] of Object.entries(value)) {
    const at = path === "" ? name : `${path}.${name}`;
    const memberSchema = memberOf(schema, name);
    if (memberSchema === undefined && !isKept(schema, name)) {
      unknown.push(at);
      changed = true;
      continue;
    }
    const pruned = memberSchema === undefined ? member : prune(memberSchema, member, unknown, at);
    setField(kept, name, pruned);
    changed ||= pruned !== member;
  }
  return changed ? kept : value;
}

function isKept(schema: Schema, name: string): boolean {
  if (schema["x-kubernetes-preserve-unknown-fields"] || schema.additionalProperties === true) return true;
  return schema["x-kubernetes-embedded-resource"] === true && EMBEDDED.includes(name);
}

/** The schema of an object's member, if it has one. */
export function memberOf(schema: Schema, name: string): Schema | undefined {
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, name)) return schema.properties[name];
  return typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
}

/** The mapped list, or the same list if no element changed. */
export function mapUnlessSame(list: readonly unknown[], map: (item: unknown, index: number) => unknown): unknown {
  const mapped = list.map(map);
  return mapped.every((item, index) => item === list[index]) ? list : mapped;
}
