/** JSON Merge Patch (RFC 7386): objects merge, null deletes, everything else replaces. */
import { fieldOf, isObject, setField } from "../json.ts";

export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else setField(merged, name, mergePatch(fieldOf(merged, name), value));
  }
  return merged;
}
