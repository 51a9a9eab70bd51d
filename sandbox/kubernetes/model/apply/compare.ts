/** Which fields differ between two objects, and which fields an object has: the sets that ownership is computed from. */
import { isObject, sameJson } from "../json.ts";
import type { Schema } from "../schema/schema.ts";
import { type FieldSet, MEMBER, NO_FIELDS, nodeOf } from "./field-set.ts";
import { formOf, isAtomic, itemElement, itemShape, memberShape, namedField } from "./shape.ts";

export interface Comparison {
  /** Fields that are new or have another value. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

interface Nodes {
  readonly changed?: FieldSet | undefined;
  readonly removed?: FieldSet | undefined;
}

const SAME: Nodes = {};
const ANYTHING: Schema = {};

export function compare(schema: Schema, before: unknown, after: unknown): Comparison {
  const { changed = NO_FIELDS, removed = NO_FIELDS } = compareValues(schema, before, after);
  return { changed, removed };
}

/** The comparison of one value; the node of the value itself is in a set if the value is absent on one side. */
function compareValues(schema: Schema, before: unknown, after: unknown): Nodes {
  if (before === after) return SAME;
  const form = formOf(after) === "none" ? formOf(before) : formOf(after);
  const mixed = formOf(before) !== form && formOf(before) !== "none";
  if (mixed || form === "none" || isAtomic(schema, form) || (isBare(before) && isBare(after))) {
    return compareWhole(before, after);
  }
  const parts = new Map<string, [Schema, unknown, unknown]>();
  for (const [element, item, value] of entriesOf(schema, before)) parts.set(element, [item, value, undefined]);
  for (const [element, item, value] of entriesOf(schema, after)) {
    const known = parts.get(element);
    if (known === undefined) parts.set(element, [item, undefined, value]);
    else known[2] = value;
  }
  return compareParts(parts, before, after);
}

function compareParts(
  parts: ReadonlyMap<string, readonly [Schema, unknown, unknown]>,
  before: unknown,
  after: unknown,
): Nodes {
  const changed: Record<string, FieldSet> = {};
  const removed: Record<string, FieldSet> = {};
  for (const [element, [schema, left, right]] of parts) {
    const nodes = compareValues(schema, left, right);
    if (nodes.changed !== undefined) changed[element] = nodes.changed;
    if (nodes.removed !== undefined) removed[element] = nodes.removed;
  }
  return {
    changed: nodeOf(before === undefined, changed),
    removed: nodeOf(after === undefined, removed),
  };
}

function compareWhole(before: unknown, after: unknown): Nodes {
  if (after === undefined) return { removed: MEMBER };
  return before === undefined || !sameJson(before, after) ? { changed: MEMBER } : SAME;
}

/** Absent, null or without content. */
function isBare(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (!isObject(value)) return value === undefined || value === null;
  for (const _name in value) return false;
  return true;
}

/** The parts of a map or a list: their path element, schema and value. Items without an identity are left out. */
export function* entriesOf(schema: Schema, value: unknown): Iterable<[string, Schema, unknown]> {
  if (Array.isArray(value)) {
    const items = itemShape(schema);
    for (const item of value as unknown[]) {
      const element = itemElement(schema, item);
      if (element !== undefined) yield [element, items, item];
    }
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      if (value[name] !== undefined) yield [`f:${name}`, memberShape(schema, name) ?? ANYTHING, value[name]];
    }
  }
}

/** The fields that a configuration lists: what its applier owns. */
export function fieldsOf(schema: Schema, value: unknown): FieldSet {
  const result: Record<string, FieldSet> = {};
  for (const [element, item, each] of entriesOf(schema, value)) {
    const form = formOf(each);
    const whole = form === "scalar" || form === "none" || isAtomic(item, form);
    const counts = whole || Array.isArray(value) || (isObject(each) && isBare(each));
    const isKey = element.startsWith("f:") && namedField(schema, element.slice(2)) === undefined;
    const node = nodeOf(counts || isKey, whole ? NO_FIELDS : fieldsOf(item, each));
    if (node !== undefined) result[element] = node;
  }
  return result;
}
