/** Reading and comparing plain JSON. */
import type { JsonObject } from "./contract.ts";

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asString(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A scalar as text; anything else is empty. */
export function scalarText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/** Deep equality of JSON values; the order of an object's keys does not matter. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => sameJson(item, right[index]));
  }
  if (!isObject(left) || !isObject(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]));
}

/** The field of a JSON object; a name such as `constructor` finds nothing that is not JSON. */
export function fieldOf(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Sets a field of any name; a plain assignment to `__proto__` would replace the prototype. */
export function setField(object: JsonObject, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, configurable: true, enumerable: true, writable: true });
}

/** The value at a dotted path of plain field names, or undefined. */
export function valueAt(object: unknown, path: string): unknown {
  let value: unknown = object;
  for (const name of path.split(".")) {
    if (!isObject(value)) return undefined;
    value = value[name];
  }
  return value;
}

/** The object without these fields. */
export function without<T extends object>(object: T, ...fields: string[]): T {
  const copy = { ...object } as JsonObject;
  for (const field of fields) delete copy[field];
  return copy as T;
}
