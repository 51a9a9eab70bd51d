/** Reads and compares untrusted JSON. */

export type Json = { readonly [name: string]: unknown };

const EMPTY: Json = Object.freeze({});

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as an object; anything else counts as an empty one. */
export function objectOf(value: unknown): Json {
  return isObject(value) ? value : EMPTY;
}

/** The objects of an array; anything else counts as an empty one. */
export function objectsOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as unknown[]).map(objectOf) : [];
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? (value as unknown[]).filter((item) => typeof item === "string") : [];
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** `properties` of a resource or sub-resource. */
export function propertiesOf(resource: Json): Json {
  return objectOf(resource["properties"]);
}

/** A copy without the named members. */
export function without(value: Json, names: ReadonlySet<string>): { [name: string]: unknown } {
  const copy: { [name: string]: unknown } = {};
  for (const name in value) if (!names.has(name)) copy[name] = value[name];
  return copy;
}

/** Equality of JSON values; the order of members does not matter, the order of items does. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => sameJson(item, right[index]));
  }
  return sameMembers(left as Json, right as Json);
}

function sameMembers(left: Json, right: Json): boolean {
  let count = 0;
  for (const name in left) {
    count++;
    if (!(name in right) || !sameJson(left[name], right[name])) return false;
  }
  for (const _ in right) count--;
  return count === 0;
}
