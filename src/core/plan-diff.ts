/**
 * What a write changes in a resource, for people: fields that differ, and named parts that come and go. Parts of lists
 * are told apart by their name or id, never by their place, so that an insertion is not a change of all that follows.
 */
export interface Difference {
  /** `properties.loadBalancingRules[a1-TCP-80].properties.frontendPort` */
  readonly path: string;
  /** Absent for what is added. */
  readonly before?: unknown;
  /** Absent for what is removed. */
  readonly after?: unknown;
}

export function diff(before: unknown, after: unknown, path = ""): Difference[] {
  if (before === after) return [];
  if (before === undefined) return [{ path, after }];
  if (after === undefined) return [{ path, before }];
  if (Array.isArray(before) && Array.isArray(after)) return diffLists(before, after, path);
  if (isObject(before) && isObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => diff(before[key], after[key], path === "" ? key : `${path}.${key}`));
  }
  return [{ path, before, after }];
}

function diffLists(before: readonly unknown[], after: readonly unknown[], path: string): Difference[] {
  const [old, now] = [byLabel(before), byLabel(after)];
  const labels = new Set([...old.keys(), ...now.keys()]);
  return [...labels].flatMap((label) => diff(old.get(label), now.get(label), `${path}[${label}]`));
}

function byLabel(items: readonly unknown[]): Map<string, unknown> {
  return new Map(items.map((item) => [labelOf(item), item]));
}

function labelOf(item: unknown): string {
  if (!isObject(item)) return String(item);
  const label = item["name"] ?? item["id"];
  return typeof label === "string" ? (label.split("/").at(-1) ?? label) : JSON.stringify(item);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
