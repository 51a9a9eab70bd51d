/** What keeps a configuration from being merged: fields that its kind does not have, and list items without an identity of their own. */
import { isObject } from "../json.ts";
import type { Schema } from "../schema/schema.ts";
import { isAtomic, itemElement, itemShape, listKeys, memberShape, shownPath } from "./shape.ts";

/** One text for each problem: `.spec.color: field not declared in schema`. */
export function configProblems(schema: Schema, value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return listProblems(schema, value, path);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) => {
    const member = memberShape(schema, name);
    if (member === undefined) return [`${path}.${name}: field not declared in schema`];
    return configProblems(member, each, `${path}.${name}`);
  });
}

function listProblems(schema: Schema, list: readonly unknown[], path: string): string[] {
  const items = itemShape(schema);
  if (isAtomic(schema, "list")) {
    return list.flatMap((item, index) => configProblems(items, item, `${path}[${index}]`));
  }
  const seen = new Set<string>();
  return list.flatMap((item, index) => {
    const element = itemElement(schema, item);
    if (element === undefined) {
      const keys = (listKeys(schema) ?? []).map((key) => JSON.stringify(key)).join(" ");
      const why = `omits all key fields [${keys}] (and doesn't have default values for any key fields)`;
      return [`${path}: element ${index}: associative list with keys has an element that ${why}`];
    }
    if (seen.has(element)) return [`${path}: duplicate entries for key ${shownPath([element])}`];
    seen.add(element);
    return configProblems(items, item, `${path}${shownPath([element])}`);
  });
}
