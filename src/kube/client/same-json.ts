/** Are two pieces of JSON equal? The order of an object's fields does not matter; `undefined` counts as absent. */

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function sameJson(a: unknown, b: unknown, besides?: string): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  for (const field in a) if (field !== besides && !sameJson(a[field], b[field])) return false;
  for (const field in b) if (field !== besides && a[field] === undefined && b[field] !== undefined) return false;
  return true;
}

interface Versioned {
  readonly metadata: { readonly resourceVersion: string };
}

/** A write that touched only what a projection drops (heartbeats, managed fields) changes nothing for its readers. */
export function sameBesidesVersion(a: Versioned, b: Versioned): boolean {
  return sameJson(a.metadata, b.metadata, "resourceVersion") && sameJson(a, b, "metadata");
}
