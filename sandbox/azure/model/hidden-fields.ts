/** Removes fields from an answer that its api-version does not know. */
import { isObject, type Json } from "./json.ts";
import type { HiddenField } from "./options.ts";

/** The same object if nothing is hidden; otherwise a copy along the hidden paths. */
export function hideFields(wire: Json, type: string, apiVersion: string, fields: readonly HiddenField[]): Json {
  let shown = wire;
  for (const field of fields) {
    if (apiVersion >= field.since || field.type.toLowerCase() !== type.toLowerCase()) continue;
    shown = withoutPath(shown, field.path.split("."));
  }
  return shown;
}

function withoutPath(value: Json, path: readonly string[]): Json {
  const [step = "", ...rest] = path;
  const name = step.replace(/\[\]$/, "");
  const inner = value[name];
  if (inner === undefined) return value;
  if (rest.length === 0) {
    const { [name]: _, ...others } = value;
    return others;
  }
  const shown = Array.isArray(inner) ? withoutInEach(inner, rest) : into(inner, rest);
  return shown === inner ? value : { ...value, [name]: shown };
}

function into(item: unknown, path: readonly string[]): unknown {
  return isObject(item) ? withoutPath(item, path) : item;
}

function withoutInEach(items: readonly unknown[], path: readonly string[]): readonly unknown[] {
  const shown = items.map((item) => into(item, path));
  return shown.some((item, index) => item !== items[index]) ? shown : items;
}
