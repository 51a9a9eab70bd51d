/** The entries of `metadata.managedFields`: who owns which fields, by whom, how and through which endpoint. */
import type { JsonObject } from "../contract.ts";
import { asString, isObject } from "../json.ts";
import { difference, type FieldSet, isEmpty, union } from "./field-set.ts";

export interface Manager {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource?: string;
  readonly time?: string;
  readonly fields: FieldSet;
}

/** Updaters beyond this number share one entry, the longest unused first. */
const MOST_UPDATERS = 10;
const OLD_UPDATES = "ancient-changes";

export function isSameManager(left: Manager, right: Manager): boolean {
  return (
    left.manager === right.manager &&
    left.operation === right.operation &&
    left.subresource === right.subresource &&
    (left.operation === "Apply" || left.apiVersion === right.apiVersion)
  );
}

/** Undefined if an entry is not valid. */
export function parseManagers(entries: readonly JsonObject[] | undefined): Manager[] | undefined {
  const managers: Manager[] = [];
  for (const entry of entries ?? []) {
    const { manager, operation, apiVersion, subresource, time, fieldsType, fieldsV1 } = entry;
    if ((operation !== "Apply" && operation !== "Update") || fieldsType !== "FieldsV1") return undefined;
    if (typeof apiVersion !== "string" || apiVersion === "") return undefined;
    managers.push({
      manager: asString(manager),
      operation,
      apiVersion,
      ...(typeof subresource === "string" ? { subresource } : {}),
      ...(typeof time === "string" ? { time } : {}),
      fields: isObject(fieldsV1) ? (fieldsV1 as FieldSet) : {},
    });
  }
  return managers;
}

/** In the order of kube-apiserver; undefined if there are none. */
export function renderManagers(managers: readonly Manager[]): JsonObject[] | undefined {
  const kept = managers.filter(({ fields }) => !isEmpty(fields));
  if (kept.length === 0) return undefined;
  return kept.toSorted(inOrder).map((each) => ({
    manager: each.manager,
    operation: each.operation,
    apiVersion: each.apiVersion,
    ...(each.time === undefined ? {} : { time: each.time }),
    fieldsType: "FieldsV1",
    fieldsV1: shared(each.fields),
    ...(each.subresource === undefined ? {} : { subresource: each.subresource }),
  }));
}

function inOrder(left: Manager, right: Manager): number {
  const order = (each: Manager): string[] => [
    each.operation,
    each.time ?? "",
    each.manager,
    each.apiVersion,
    each.subresource ?? "",
  ];
  const theirs = order(right);
  for (const [index, text] of order(left).entries()) {
    const other = theirs[index] ?? "";
    if (text !== other) return text < other ? -1 : 1;
  }
  return 0;
}

/** Objects of one form have equal sets: each is kept once, because thousands of Pods would each have their own. */
const known = new Map<string, FieldSet>();
const MOST_KNOWN = 500;

function shared(fields: FieldSet): FieldSet {
  const text = JSON.stringify(fields);
  const same = known.get(text);
  if (same !== undefined) return same;
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(text, fields);
  return fields;
}

export function withoutFields(managers: readonly Manager[], fields: FieldSet): Manager[] {
  return managers.map((each) => ({ ...each, fields: difference(each.fields, fields) }));
}

/** Adds fields to an updater's entry and gives it the time; where there are too many updaters the oldest become one. */
export function withUpdate(managers: readonly Manager[], update: Manager): Manager[] {
  const before = managers.find((each) => isSameManager(each, update));
  const others = managers.filter((each) => each !== before && !isEmpty(each.fields));
  const fields = before === undefined ? update.fields : union(before.fields, update.fields);
  return withoutOldUpdaters([...others, { ...update, fields }]);
}

function withoutOldUpdaters(managers: readonly Manager[]): Manager[] {
  const updaters = managers.filter(({ operation }) => operation === "Update");
  const surplus = updaters.length - MOST_UPDATERS;
  if (surplus <= 0) return [...managers];
  const [first, ...rest] = updaters.toSorted(inOrder).slice(0, surplus + 1);
  if (first === undefined) return [...managers];
  const { subresource: _subresource, ...entry } = { ...(rest.at(-1) ?? first), manager: OLD_UPDATES };
  const fields = rest.reduce((sum, each) => union(sum, each.fields), first.fields);
  return [...managers.filter((each) => each !== first && !rest.includes(each)), { ...entry, fields }];
}

/** As conflicts name it. */
export function shownManager({ manager, operation, apiVersion, subresource }: Manager): string {
  const name = `${JSON.stringify(manager)}${subresource === undefined ? "" : ` with subresource "${subresource}"`}`;
  return operation === "Update" ? `${name} using ${apiVersion}` : name;
}
