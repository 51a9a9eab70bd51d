/**
 * Who owns what after a create, update or patch: the writer owns the fields that it changed, after defaults are set and
 * before the server fills in its own, and the owners of what is gone own it no longer. An object that was never tracked
 * (the control loops made it) stays so until a client applies to it.
 */
import type { JsonObject, KubeObject } from "../contract.ts";
import { groupVersion, type Resource } from "../resource.ts";
import { emptyOf, typeOfResource } from "../schema/types.ts";
import { compare } from "./compare.ts";
import { difference, excluding, type FieldSet, isEmpty, MEMBER } from "./field-set.ts";
import { type Manager, parseManagers, renderManagers, withoutFields, withUpdate } from "./managers.ts";

export interface Writer {
  /** The field manager of the request, or the name in its user agent. */
  readonly manager: string;
  readonly resource: Resource;
  readonly subresource: string | undefined;
  /** As `metadata` has it. */
  readonly now: string;
}

/** Fields without an owner. */
export const UNOWNED: FieldSet = {
  "f:apiVersion": MEMBER,
  "f:kind": MEMBER,
  "f:metadata": {
    ".": MEMBER,
    "f:name": MEMBER,
    "f:namespace": MEMBER,
    "f:creationTimestamp": MEMBER,
    "f:selfLink": MEMBER,
    "f:uid": MEMBER,
    "f:clusterName": MEMBER,
    "f:generation": MEMBER,
    "f:managedFields": MEMBER,
    "f:resourceVersion": MEMBER,
  },
};

/** Fields that an endpoint does not write. */
export function resetFields({ resource, subresource }: Writer): FieldSet {
  if (subresource === "status") {
    const isDeployment = resource.kind === "Deployment" && resource.group === "apps";
    return { "f:spec": MEMBER, ...(isDeployment ? { "f:metadata": { "f:labels": MEMBER } } : {}) };
  }
  return resource.subresources.includes("status") ? { "f:status": MEMBER } : {};
}

/** The entries of `managedFields` after a write; the stored ones themselves if the write changes no ownership. */
export function trackUpdate(writer: Writer, old: KubeObject | undefined, object: KubeObject): JsonObject[] | undefined {
  const stored = old?.metadata.managedFields;
  const managers = startingManagers(writer, stored, object);
  if (old !== undefined && managers.length === 0) return undefined;
  const before = old ?? emptyOf(writer.resource);
  const after = { ...object, metadata: { ...object.metadata, managedFields: stored } };
  const tracked = updated(writer, managers, before, after as unknown as KubeObject);
  if (tracked === managers && object.metadata.managedFields === undefined) return stored;
  return renderManagers(tracked);
}

/** A client may give the entries itself; `[{}]` or an empty list drops them. */
function startingManagers(writer: Writer, stored: JsonObject[] | undefined, object: KubeObject): readonly Manager[] {
  const given = writer.subresource === undefined ? object.metadata.managedFields : undefined;
  if (given !== undefined && isReset(given)) return [];
  const managers = given === undefined ? undefined : parseManagers(given);
  return managers !== undefined && managers.length > 0 ? managers : (parseManagers(stored) ?? []);
}

function isReset(given: readonly JsonObject[]): boolean {
  return given.length === 0 || (given.length === 1 && Object.keys(given[0] ?? {}).length === 0);
}

/** The managers after an update; the same list if nothing changed. */
export function updated(
  writer: Writer,
  managers: readonly Manager[],
  before: KubeObject | JsonObject,
  after: KubeObject,
): readonly Manager[] {
  const difference_ = compare(typeOfResource(writer.resource), before, after);
  const reset = resetFields(writer);
  const changed = excluding(difference_.changed, reset);
  const removed = excluding(difference_.removed, reset);
  if (isEmpty(changed) && isEmpty(removed)) return managers;
  const { manager, resource, subresource, now } = writer;
  const own: Manager = {
    manager: manager === "" ? "unknown" : manager,
    operation: "Update",
    apiVersion: groupVersion(resource),
    ...(subresource === undefined ? {} : { subresource }),
    time: now,
    fields: difference(changed, UNOWNED),
  };
  const others = withoutFields(withoutFields(managers, changed), removed);
  return isEmpty(own.fields) ? others : withUpdate(others, own);
}
