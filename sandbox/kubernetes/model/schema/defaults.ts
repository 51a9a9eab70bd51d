/**
 * Applies the defaults of a structural schema: to absent fields, and to nulls that are not nullable. Such a null without a
 * default is dropped, in maps as well as in declared fields; elements of lists stay.
 */
import type { JsonObject } from "../contract.ts";
import { fieldOf, isObject, setField } from "../json.ts";
import { mapUnlessSame, memberOf } from "./prune.ts";
import type { Schema } from "./schema.ts";

/** The value with defaults; the same value if none applies. */
export function withDefaults(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : mapUnlessSame(value, (item) => withDefaults(items, item));
  }
  return isObject(value) ? defaultedObject(schema, value) : value;
}

function defaultedObject(schema: Schema, value: JsonObject): JsonObject {
  const filled: JsonObject = { ...value };
  let changed = false;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const given = fieldOf(filled, name);
    const absent = given === undefined || (given === null && !property.nullable);
    if (!absent || property.default === undefined) continue;
    setField(filled, name, structuredClone(property.default));
    changed = true;
  }
  for (const [name, member] of Object.entries(filled)) {
    const property = memberOf(schema, name);
    if (property === undefined) continue;
    if (member === null && property.nullable !== true) {
      delete filled[name];
      changed = true;
      continue;
    }
    const filledMember = withDefaults(property, member);
    setField(filled, name, filledMember);
    changed ||= filledMember !== member;
  }
  return changed ? filled : value;
}
