/**
 * Server-side apply: merges a configuration into the live object, takes away what its applier listed before and no longer
 * lists and no other manager owns, and finds the fields that others own with another value (conflicts).
 */
import type { JsonObject, KubeObject } from "../contract.ts";
import { asObject, asString, sameJson } from "../json.ts";
import { groupVersion } from "../resource.ts";
import type { Schema } from "../schema/schema.ts";
import { emptyOf, typeOfResource } from "../schema/types.ts";
import { type Cause, StatusError } from "../status-error.ts";
import { compare, fieldsOf } from "./compare.ts";
import { difference, excluding, type FieldSet, has, intersection, pathsOf, union } from "./field-set.ts";
import { isSameManager, type Manager, renderManagers, shownManager, withoutFields } from "./managers.ts";
import { merge, removeFields, withNamedFields } from "./merge.ts";
import { shownPath } from "./shape.ts";
import { resetFields, UNOWNED, updated, type Writer } from "./track-update.ts";

export interface Applied {
  readonly object: JsonObject;
  readonly managedFields: JsonObject[] | undefined;
}

interface Conflict {
  readonly manager: Manager;
  readonly path: readonly string[];
}

const BEFORE_FIRST_APPLY = "before-first-apply";
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** Throws 409 if others own what the configuration changes, unless `force` is set. */
export function applyConfig(
  writer: Writer,
  live: KubeObject | undefined,
  managersNow: readonly Manager[],
  config: JsonObject,
  force: boolean,
): Applied {
  const schema = typeOfResource(writer.resource);
  const before: JsonObject = live ?? emptyOf(writer.resource);
  const managers = live !== undefined && managersNow.length === 0 ? untracked(writer, live) : managersNow;
  const own: Manager = {
    manager: writer.manager,
    operation: "Apply",
    apiVersion: groupVersion(writer.resource),
    ...(writer.subresource === undefined ? {} : { subresource: writer.subresource }),
    fields: excluding(fieldsOf(schema, config), resetFields(writer)),
  };
  const last = managers.find((each) => isSameManager(each, own));
  const others = managers.filter((each) => each !== last);
  const merged = merge(schema, before, config);
  const object = asObject(last === undefined ? merged : pruned(schema, merged, last.fields, [...others, own]));
  const compared = compare(schema, before, object);
  const changed = excluding(compared.changed, resetFields(writer));
  const removed = excluding(compared.removed, resetFields(writer));
  const conflicts = force ? [] : forbidden(schema, writer, before, conflictsOf(others, changed));
  if (conflicts.length > 0) throw refusal(conflicts);
  const unchanged = live !== undefined && sameJson(object, before);
  const time = unchanged ? last?.time : writer.now;
  const entry = { ...own, fields: difference(own.fields, UNOWNED), ...(time === undefined ? {} : { time }) };
  const kept = withoutFields(withoutFields(others, changed), removed);
  return { object: withLastApplied(writer, object, config), managedFields: renderManagers([...kept, entry]) };
}

/** The fields of an object that was never tracked belong to a manager of their own. */
function untracked(writer: Writer, live: KubeObject): readonly Manager[] {
  const first: Writer = { ...writer, manager: BEFORE_FIRST_APPLY };
  return updated(first, [], emptyOf(writer.resource), live);
}

/** The object without the fields that the applier listed last time and that no manager lists now. */
function pruned(schema: Schema, merged: unknown, last: FieldSet, managers: readonly Manager[]): unknown {
  const named = (set: FieldSet): FieldSet => withNamedFields(schema, set);
  const all = named(fieldsOf(schema, merged));
  const owned = named(managers.reduce<FieldSet>((sum, { fields }) => union(sum, fields), {}));
  const first = fieldsOf(schema, removeFields(schema, merged, named(last)));
  const second = removeFields(schema, merged, difference(all, union(named(first), owned)));
  const gone = difference(all, named(fieldsOf(schema, second)));
  return removeFields(schema, merged, intersection(gone, named(last)));
}

function conflictsOf(others: readonly Manager[], changed: FieldSet): Conflict[] {
  return others.flatMap((manager) => pathsOf(intersection(manager.fields, changed)).map((path) => ({ manager, path })));
}

/** kubectl may change what its client-side apply set last, as the annotation says. */
function forbidden(
  schema: Schema,
  writer: Writer,
  live: JsonObject,
  conflicts: readonly Conflict[],
): readonly Conflict[] {
  const annotation = asString(asObject(asObject(live["metadata"])["annotations"])[LAST_APPLIED]);
  if (writer.manager !== "kubectl" || annotation === "" || conflicts.length === 0) return conflicts;
  try {
    const lastApplied = JSON.parse(annotation) as JsonObject;
    const { changed, removed } = compare(schema, lastApplied, live);
    const allowed = difference(difference(fieldsOf(schema, lastApplied), changed), removed);
    return conflicts.filter(({ path }) => !has(allowed, path));
  } catch {
    return conflicts;
  }
}

function refusal(conflicts: readonly Conflict[]): StatusError {
  const causes = conflicts.map(({ manager, path }): Cause => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${shownManager(manager)}`,
    field: shownPath(path),
  }));
  return new StatusError(409, "Conflict", refusalMessage(conflicts), { causes });
}

function refusalMessage(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (first !== undefined && conflicts.length === 1) {
    const path = shownPath(first.path);
    return `Apply failed with 1 conflict: conflict with ${shownManager(first.manager)}: ${path}`;
  }
  const managers = [...new Set(conflicts.map(({ manager }) => manager))];
  const lines = managers
    .toSorted((left, right) => (shownManager(left) < shownManager(right) ? -1 : 1))
    .flatMap((manager) => [
      `conflicts with ${shownManager(manager)}:`,
      ...conflicts.filter((each) => each.manager === manager).map(({ path }) => `- ${shownPath(path)}`),
    ]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`;
}

/** Keeps client-side apply's annotation up to date where there is one. */
function withLastApplied(writer: Writer, object: JsonObject, config: JsonObject): JsonObject {
  const metadata = asObject(object["metadata"]);
  const annotations = asObject(metadata["annotations"]);
  if (writer.manager !== "kubectl" || asString(annotations[LAST_APPLIED]) === "") return object;
  const { [LAST_APPLIED]: _own, ...others } = asObject(asObject(config["metadata"])["annotations"]);
  const text = JSON.stringify(
    sorted({ ...config, metadata: { ...asObject(config["metadata"]), annotations: others } }),
  );
  return {
    ...object,
    metadata: { ...metadata, annotations: { ...annotations, [LAST_APPLIED]: `${text}\n` } },
  };
}

/** With the keys of every object in order, as Go writes them. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, each]) => [name, sorted(each)]),
  );
}
