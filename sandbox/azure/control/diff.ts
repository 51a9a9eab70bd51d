/**
 * A readable diff of a write: one entry per value, list items matched by name. Provisioning states and ETags change with
 * every write and are omitted.
 */

export interface Difference {
  /** `properties.loadBalancingRules[web-80].properties.frontendPort`; empty for the whole resource. */
  readonly path: string;
  /** Absent: the value was added. */
  readonly before?: unknown;
  /** Absent: the value was removed. */
  readonly after?: unknown;
}

const NOISE = new Set(["etag", "provisioningState"]);

export function differences(before: unknown, after: unknown): Difference[] {
  const found: Difference[] = [];
  compare("", before, after, found);
  return found;
}

function compare(path: string, before: unknown, after: unknown, found: Difference[]): void {
  if (before === after) return;
  if (Array.isArray(before) && Array.isArray(after)) compareLists(path, before, after, found);
  else if (isFields(before) && isFields(after)) compareFields(path, before, after, dot, found);
  else pushUnlessSame(path, before, after, found);
}

function compareLists(path: string, before: readonly unknown[], after: readonly unknown[], found: Difference[]): void {
  if (!haveNames(before) || !haveNames(after)) return pushUnlessSame(path, before, after, found);
  const inPlace = before.length === after.length && before.every((item, index) => item.name === after[index]?.name);
  if (!inPlace) return compareFields(path, byName(before), byName(after), bracket, found);
  // The common case, which must be fast: a long list of which a few items changed.
  before.forEach((item, index) => compare(bracket(path, item.name), item, after[index], found));
}

function pushUnlessSame(path: string, before: unknown, after: unknown, found: Difference[]): void {
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  found.push({
    path,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  });
}

type Fields = Readonly<Record<string, unknown>>;
type Named = Fields & { readonly name: string };

function compareFields(
  path: string,
  before: Fields,
  after: Fields,
  join: (path: string, key: string) => string,
  found: Difference[],
): void {
  for (const key in before) if (!NOISE.has(key)) compare(join(path, key), before[key], after[key], found);
  for (const key in after)
    if (!NOISE.has(key) && !(key in before)) compare(join(path, key), undefined, after[key], found);
}

const dot = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);
const bracket = (path: string, key: string): string => `${path}[${key}]`;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether all items have distinct names. */
function haveNames(list: readonly unknown[]): list is readonly Named[] {
  const names = new Set<unknown>();
  for (const item of list) {
    if (!isFields(item) || typeof item["name"] !== "string") return false;
    names.add(item["name"]);
  }
  return names.size === list.length;
}

function byName(list: readonly Named[]): Fields {
  const fields: Record<string, Named> = Object.create(null) as Record<string, Named>;
  for (const item of list) fields[item.name] = item;
  return fields;
}
