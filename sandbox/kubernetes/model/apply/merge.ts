/** Merges a configuration that was checked (check-config.ts) into the live object, and takes fields out of an object. */
import type { JsonObject } from "../contract.ts";
import { asArray, asObject, setField } from "../json.ts";
import type { Schema } from "../schema/schema.ts";
import { entriesOf } from "./compare.ts";
import { type FieldSet, isEmpty, isMember, nodeOf, partsOf } from "./field-set.ts";
import { formOf, isAtomic, itemElement, itemShape, memberShape, namedField, shapeAt } from "./shape.ts";

export function merge(schema: Schema, live: unknown, config: unknown): unknown {
  const form = formOf(config);
  if (live === undefined || (formOf(live) !== form && form !== "none")) {
    if (form === "list" && !isAtomic(schema, form)) return mergeLists(schema, [], asArray(config));
    return form === "map" && !isAtomic(schema, form) ? mergeMaps(schema, {}, asObject(config)) : config;
  }
  if (config === undefined) return live;
  if (form === "none") return isAtomic(schema, formOf(live)) ? config : live;
  if (isAtomic(schema, form)) return config;
  return form === "map"
    ? mergeMaps(schema, asObject(live), asObject(config))
    : mergeLists(schema, asArray(live), asArray(config));
}

function mergeMaps(schema: Schema, live: JsonObject, config: JsonObject): JsonObject {
  const merged: JsonObject = { ...live };
  for (const [name, value] of Object.entries(config)) {
    setField(merged, name, merge(memberShape(schema, name) ?? {}, live[name], value));
  }
  return merged;
}

/** The configuration's order holds among its items; items of the live list keep their place before or after these. */
function mergeLists(schema: Schema, live: readonly unknown[], config: readonly unknown[]): unknown[] {
  const items = itemShape(schema);
  const theirs = live.map((item) => itemElement(schema, item));
  const ours = config.map((item) => itemElement(schema, item) ?? "");
  const shared = ours.filter((element) => theirs.includes(element));
  const merged: unknown[] = [];
  const placed = new Set<string>();
  const place = (index: number): void => {
    const element = ours[index] ?? "";
    placed.add(element);
    if (shared[0] === element) shared.shift();
    merged.push(merge(items, live[theirs.indexOf(element)], config[index]));
  };
  let left = 0;
  let right = 0;
  while (left < live.length || right < config.length) {
    const element = theirs[left];
    const known = element !== undefined && ours.includes(element);
    if (left < live.length && right < config.length && element === ours[right]) {
      place(right++);
      left++;
    } else if (left < live.length && right < config.length && known && shared.length > 0 && shared[0] !== element) {
      left++;
    } else if (left < live.length && !known) {
      merged.push(live[left++]);
    } else {
      if (left < live.length && placed.has(element ?? "")) left++;
      if (right < config.length) place(right++);
    }
  }
  return merged;
}

/** The value without the fields of the set; undefined if nothing of it stays. */
export function removeFields(schema: Schema, value: unknown, gone: FieldSet): unknown {
  const form = formOf(value);
  if (form === "none" || form === "scalar") return value;
  if (isAtomic(schema, form)) return undefined;
  const kept: [string, unknown][] = [];
  for (const [element, item, each] of entriesOf(schema, value)) {
    const node = gone[element];
    if (isMember(node)) continue;
    kept.push([element, node === undefined ? each : removeFields(item, each, partsOf(node))]);
  }
  if (kept.length === 0) return undefined;
  if (Array.isArray(value)) return kept.map(([, each]) => each).filter((each) => each !== undefined);
  return Object.fromEntries(kept.filter(([, each]) => each !== undefined).map(([name, each]) => [name.slice(2), each]));
}

/** The set with the named fields that have parts in it: these go when all of their parts go. */
export function withNamedFields(schema: Schema, set: FieldSet): FieldSet {
  const result: Record<string, FieldSet> = {};
  for (const [element, node] of Object.entries(set)) {
    const parts = partsOf(node);
    const named = element.startsWith("f:") && namedField(schema, element.slice(2)) !== undefined && !isEmpty(parts);
    const below = withNamedFields(shapeAt(schema, element), parts);
    const kept = nodeOf(isMember(node) || named, below);
    if (kept !== undefined) result[element] = kept;
  }
  return result;
}
