/**
 * Strategic-merge patch: like a merge patch, but lists that the schema marks are merged by key (or as sets).
 *
 *   in the patch                          | means
 *   --------------------------------------|---------------------------------------------------
 *   null                                  | delete the field
 *   {"$patch": "delete", <key>: v}        | delete that element of a list
 *   {"$patch": "replace"} in a list/map   | replace with the rest of the patch
 *   "$retainKeys": [...]                  | delete the fields not listed
 *   "$deleteFromPrimitiveList/f": [...]   | remove these values from the set f
 *   "$setElementOrder/f": [...]           | the order of f; it names every element of the patch
 *
 * Elements that the patch names come before the others, unless the stored order says otherwise.
 */
import type { JsonObject } from "../contract.ts";
import { asArray, fieldOf, isObject, sameJson, setField } from "../json.ts";
import { memberOf } from "../schema/prune.ts";
import type { Schema } from "../schema/schema.ts";

export class BadDirectiveError extends Error {
  override readonly name = "BadDirectiveError";
}

const DELETE_FROM = "$deleteFromPrimitiveList/";
const SET_ORDER = "$setElementOrder/";

export function strategicMerge(original: JsonObject, patch: JsonObject, schema: Schema | undefined): JsonObject {
  const directive = patch["$patch"];
  if (directive !== undefined) return replacedMap(patch, directive);
  const merged: JsonObject = { ...original };
  for (const [name, value] of Object.entries(patch)) {
    if (name === "$retainKeys" || name.startsWith(SET_ORDER)) continue;
    if (name.startsWith(DELETE_FROM)) deleteFromList(merged, name.slice(DELETE_FROM.length), asArray(value));
    else if (value === null) delete merged[name];
    else mergeField(merged, name, value, patch, schema && memberOf(schema, name));
  }
  reorderUntouched(merged, original, patch, schema);
  return retained(merged, patch["$retainKeys"]);
}

function replacedMap(patch: JsonObject, directive: unknown): JsonObject {
  if (directive === "delete") return {};
  if (directive !== "replace")
    throw new BadDirectiveError(`Unknown patch directive: $patch: ${JSON.stringify(directive)}`);
  return cleaned({ ...patch, $patch: undefined }) as JsonObject;
}

function deleteFromList(merged: JsonObject, name: string, values: readonly unknown[]): void {
  const before = fieldOf(merged, name);
  if (before !== undefined)
    setField(
      merged,
      name,
      asArray(before).filter((item) => !values.includes(item)),
    );
}

function mergeField(
  merged: JsonObject,
  name: string,
  value: unknown,
  patch: JsonObject,
  schema: Schema | undefined,
): void {
  const before = fieldOf(merged, name);
  if (isObject(value)) {
    setField(merged, name, isObject(before) ? strategicMerge(before, value, schema) : cleaned(value));
  } else if (Array.isArray(value) && schema?.["x-kubernetes-patch-strategy"] === "merge") {
    const order = patch[`${SET_ORDER}${name}`];
    setField(merged, name, mergeList(asArray(before), value, order === undefined ? undefined : asArray(order), schema));
  } else {
    setField(merged, name, cleaned(value));
  }
}

/** An order may also be given for a list that the patch does not otherwise touch. */
function reorderUntouched(
  merged: JsonObject,
  original: JsonObject,
  patch: JsonObject,
  schema: Schema | undefined,
): void {
  for (const [name, order] of Object.entries(patch)) {
    const field = name.startsWith(SET_ORDER) ? name.slice(SET_ORDER.length) : "";
    if (field === "" || patch[field] !== undefined || merged[field] === undefined) continue;
    const key = (schema && memberOf(schema, field))?.["x-kubernetes-patch-merge-key"];
    merged[field] = ordered(asArray(merged[field]), asArray(order), asArray(original[field]), key);
  }
}

function retained(merged: JsonObject, keys: unknown): JsonObject {
  if (keys === undefined) return merged;
  const kept = asArray(keys);
  return Object.fromEntries(Object.entries(merged).filter(([name]) => kept.includes(name)));
}

function mergeList(
  original: readonly unknown[],
  patch: readonly unknown[],
  order: readonly unknown[] | undefined,
  schema: Schema,
): unknown[] {
  const key = schema["x-kubernetes-patch-merge-key"];
  if (key === undefined) {
    const merged = [...original, ...patch.filter((item) => !original.includes(item))];
    return ordered(merged, order ?? patch, original, undefined);
  }
  const elements = patch.map((item) => element(item, key));
  if (elements.some((item) => item["$patch"] === "replace")) {
    return elements.filter((item) => item["$patch"] === undefined).map(cleaned);
  }
  const changes = elements.filter((item) => item["$patch"] === undefined);
  if (order !== undefined) checkOrder(changes, order, key);
  const removed = elements.filter((item) => item["$patch"] === "delete");
  const kept = original.filter((item) => !removed.some((gone) => sameElement(item, gone, key)));
  return ordered(mergedElements(kept, changes, key, schema.items), order ?? changes, original, key);
}

function element(item: unknown, key: string): JsonObject {
  if (!isObject(item)) throw new BadDirectiveError(`an element of a list merged by "${key}" must be an object`);
  const directive = item["$patch"];
  if (directive !== undefined && directive !== "delete" && directive !== "replace" && directive !== "merge") {
    throw new BadDirectiveError(`Unknown patch directive: $patch: ${JSON.stringify(directive)}`);
  }
  if (directive !== "replace" && item[key] === undefined) {
    throw new BadDirectiveError(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`);
  }
  return directive === "merge" ? { ...item, $patch: undefined } : item;
}

function mergedElements(
  kept: readonly unknown[],
  changes: readonly JsonObject[],
  key: string,
  schema?: Schema,
): unknown[] {
  const merged = [...kept];
  for (const change of changes) {
    const at = merged.findIndex((item) => sameElement(item, change, key));
    const before = merged[at];
    if (at < 0) merged.push(cleaned(change));
    else merged[at] = strategicMerge(isObject(before) ? before : {}, change, schema);
  }
  return merged;
}

function checkOrder(changes: readonly JsonObject[], order: readonly unknown[], key: string): void {
  const stray = changes.find((change) => !order.some((item) => sameElement(item, change, key)));
  if (stray === undefined) return;
  throw new BadDirectiveError(
    `The order in patch list:\n${JSON.stringify(changes)}\n doesn't match $setElementOrder list:\n${JSON.stringify(order)}`,
  );
}

function sameElement(left: unknown, right: unknown, key: string | undefined): boolean {
  if (key === undefined) return sameJson(left, right);
  return isObject(left) && isObject(right) && sameJson(left[key], right[key]);
}

/**
 * Elements named by `order` in that order, the others in their stored order; where both are known to the stored
 * list their stored order decides, else the named one goes first.
 */
function ordered(
  list: readonly unknown[],
  order: readonly unknown[],
  stored: readonly unknown[],
  key?: string,
): unknown[] {
  const placeIn = (places: readonly unknown[], item: unknown): number =>
    places.findIndex((other) => sameElement(other, item, key));
  const byPlace = (places: readonly unknown[]) => (left: unknown, right: unknown) =>
    placeIn(places, left) - placeIn(places, right);
  const named = list.filter((item) => placeIn(order, item) >= 0).sort(byPlace(order));
  const others = list.filter((item) => placeIn(order, item) < 0).sort(byPlace(stored));
  const result: unknown[] = [];
  while (named.length > 0 && others.length > 0) {
    const namedAt = placeIn(stored, named[0]);
    const otherAt = placeIn(stored, others[0]);
    const otherFirst = namedAt >= 0 && otherAt >= 0 && otherAt < namedAt;
    result.push(otherFirst ? others.shift() : named.shift());
  }
  return [...result, ...named, ...others];
}

/** A new value as stored: without directives, and without nulls in its maps. */
function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter((item) => !(isObject(item) && item["$patch"] !== undefined)).map(cleaned);
  }
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(
    ([name, member]) => member !== null && member !== undefined && !isDirective(name),
  );
  return Object.fromEntries(kept.map(([name, member]) => [name, cleaned(member)]));
}

function isDirective(name: string): boolean {
  return name === "$patch" || name === "$retainKeys" || name.startsWith(SET_ORDER) || name.startsWith(DELETE_FROM);
}
