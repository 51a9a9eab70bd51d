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

export function diff(before: unknown, after: unknown): Difference[] {
  return differ(before ?? {}, after ?? {}, "");
}

function differ(before: unknown, after: unknown, path: string): Difference[] {
  if (before === after) return [];
  if (isList(before) || isList(after)) return differInLists(before, after, path);
  if (isPartly(before) && isPartly(after)) {
    const [old, now] = [before ?? {}, after ?? {}];
    const keys = new Set([...Object.keys(old), ...Object.keys(now)]);
    return [...keys].flatMap((key) => differ(old[key], now[key], path === "" ? key : `${path}.${key}`));
  }
  return [change(path, before, after)];
}

/** What comes or goes whole is one line. */
function differInLists(before: unknown, after: unknown, path: string): Difference[] {
  const [old, now] = [byLabel(before), byLabel(after)];
  const labels = new Set([...old.keys(), ...now.keys()]);
  return [...labels].flatMap((label) => {
    const at = `${path}[${label}]`;
    return old.has(label) && now.has(label)
      ? differ(old.get(label), now.get(label), at)
      : [change(at, old.get(label), now.get(label))];
  });
}

function change(path: string, before: unknown, after: unknown): Difference {
  return { path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
}

function byLabel(items: unknown): Map<string, unknown> {
  return new Map(isList(items) ? items.map((item) => [labelOf(item), item]) : []);
}

function labelOf(item: unknown): string {
  if (!isObject(item)) return String(item);
  const label = item["name"] ?? item["id"] ?? item["ip"];
  return typeof label === "string" ? (label.split("/").at(-1) ?? label) : JSON.stringify(item);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !isList(value);
}

/** An object, or nothing where the other side has one. */
function isPartly(value: unknown): value is Readonly<Record<string, unknown>> | undefined {
  return value === undefined || isObject(value);
}
