/**
 * Evaluates the JSONPath subset of printer columns: `.spec.size`, `.spec.parts[0].name`, `.spec.parts[*].name`,
 * `.status.conditions[?(@.type=="Ready")].status`, `.metadata.annotations.example\.com/name`. Of several
 * matches the first is returned, as in kubectl's tables.
 */
import { isObject, valueAt } from "../json.ts";

const STEP = /\.((?:\\.|[^.[\\])+)|\['([^']*)'\]|\[(\d+|\*)\]|\[\?\(@\.([\w.]+)\s*==\s*["']([^"']*)["']\)\]/gy;

export function readJsonPath(object: unknown, path: string): unknown {
  let found: readonly unknown[] = [object];
  STEP.lastIndex = 0;
  for (let match = STEP.exec(path); match !== null; match = STEP.exec(path)) {
    const [, field, quoted, index, filterPath, filterValue] = match;
    const name = field?.replaceAll(/\\(.)/g, "$1") ?? quoted;
    if (name !== undefined) found = found.flatMap((value) => memberOf(value, name));
    else if (index === "*") found = found.flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : []));
    else if (index !== undefined) found = found.flatMap((value) => memberOf(value, index));
    else found = found.flatMap((value) => matching(value, filterPath ?? "", filterValue ?? ""));
  }
  return found[0];
}

function memberOf(value: unknown, name: string): unknown[] {
  if (Array.isArray(value)) return value[Number(name)] === undefined ? [] : [value[Number(name)]];
  return isObject(value) && value[name] !== undefined ? [value[name]] : [];
}

function matching(value: unknown, path: string, wanted: string): unknown[] {
  return Array.isArray(value) ? value.filter((item) => String(valueAt(item, path)) === wanted) : [];
}
