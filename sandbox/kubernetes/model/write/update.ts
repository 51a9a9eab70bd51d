/** PUT, and the second half of PATCH: replaces a stored object. */
import type { KubeObject, ObjectMeta } from "../contract.ts";
import { sameJson, without } from "../json.ts";
import type { Resource } from "../resource.ts";
import { keyOf, objectAt } from "../state.ts";
import { conflict, invalid, invalidValue, MODIFIED, notFound } from "../status-error.ts";
import { checkValid, fromStored, incoming, type Subresource, tracked, type Write, type Written } from "./write.ts";

export function update(write: Write, name: string, sub: Subresource, body: unknown): Written {
  const object = incoming(write, body, name);
  const old = objectAt(write.state, write.resource.collection, keyOf(object));
  const { uid, resourceVersion } = object.metadata;
  if (uid !== undefined && uid !== old?.metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old?.metadata.uid ?? ""}`;
    throw conflict(write.resource, name, why);
  }
  if (old === undefined) throw notFound(write.resource, name);
  if (resourceVersion === undefined && !write.resource.unconditionalUpdate) {
    throw invalid(write.resource, name, [
      invalidValue("metadata.resourceVersion", 0, "must be specified for an update"),
    ]);
  }
  return replaceStored(write, old, object, sub);
}

/** Replaces `old`, keeping the fields that clients cannot change. */
export function replaceStored(write: Write, old: KubeObject, object: KubeObject, sub: Subresource): Written {
  const { resource } = write;
  const name = old.metadata.name ?? "";
  const { resourceVersion } = object.metadata;
  if (resourceVersion !== undefined && resourceVersion !== old.metadata.resourceVersion) {
    throw conflict(resource, name, MODIFIED);
  }
  const prepared = prepare(write, old, object, sub);
  checkValid(write, prepared, old, sub);
  const allocated =
    sub === undefined
      ? (resource.behaviour.allocate?.(prepared, write) ?? { object: prepared, causes: [] })
      : { object: prepared, causes: [] };
  if (allocated.causes.length > 0) throw invalid(resource, name, allocated.causes);
  return store(write, old, withGeneration(resource, allocated.object, old));
}

function prepare(write: Write, old: KubeObject, object: KubeObject, sub: Subresource): KubeObject {
  const { behaviour } = write.resource;
  const kept: KubeObject = { ...object, metadata: keepServerFields(object.metadata, old.metadata) };
  const scoped = withinSubresource(write.resource, kept, old, sub);
  const defaulted = behaviour.setDefaults?.(scoped) ?? scoped;
  const owned = tracked(write, old, defaulted, sub);
  if (sub !== undefined) return owned;
  return behaviour.prepareUpdate?.(owned, old, write) ?? owned;
}

/** Keeps the metadata that only the server writes. */
function keepServerFields(given: ObjectMeta, old: ObjectMeta): ObjectMeta {
  const meta: ObjectMeta = { ...given };
  const server = ["resourceVersion", "generation", "creationTimestamp", "deletionTimestamp"] as const;
  for (const field of [...server, "deletionGracePeriodSeconds", "generateName"] as const) {
    delete meta[field];
    if (old[field] !== undefined) Object.assign(meta, { [field]: old[field] });
  }
  meta.uid ??= old.uid ?? "";
  return meta;
}

/**
 *   endpoint       | taken from the client
 *   ---------------|-----------------------------------------
 *   the object     | all but status, where status is a subresource
 *   /status        | status; metadata too for built-in kinds
 *   /finalize      | spec.finalizers of a namespace
 *   /scale         | spec, of which scale.ts changes the replicas alone
 */
function withinSubresource(resource: Resource, object: KubeObject, old: KubeObject, sub: Subresource): KubeObject {
  if (sub === "status") {
    const base = resource.custom ? old : { ...old, metadata: object.metadata };
    const status = object["status"];
    return status === undefined ? without(base, "status") : { ...base, status };
  }
  if (sub === "finalize" || sub === "scale") return { ...old, spec: object["spec"] };
  if (!resource.subresources.includes("status")) return object;
  return old["status"] === undefined ? without(object, "status") : { ...object, status: old["status"] };
}

function withGeneration(resource: Resource, object: KubeObject, old: KubeObject): KubeObject {
  if (!resource.generation) return object;
  const apart = resource.subresources.includes("status") ? ["metadata", "status"] : ["metadata"];
  const same = sameJson(without(object, ...apart), without(old, ...apart));
  const generation = (old.metadata.generation ?? 1) + (same ? 0 : 1);
  return { ...object, metadata: { ...object.metadata, generation } };
}

function store(write: Write, old: KubeObject, object: KubeObject): Written {
  const { resource } = write;
  const gone = isGone(object);
  if (!gone && isSame(object, old)) return { object: fromStored(resource, old) };
  if (write.dryRun) return { object: fromStored(resource, object), removed: gone };
  const stored = write.transaction.record(gone ? "DELETED" : "MODIFIED", resource.collection, object);
  return { object: fromStored(resource, stored), removed: gone };
}

/** Whether nothing changed but times of `managedFields`. */
function isSame(object: KubeObject, old: KubeObject): boolean {
  const entries = object.metadata.managedFields;
  if (entries === old.metadata.managedFields || entries === undefined) return sameJson(object, old);
  const timeless = (list: readonly object[] | undefined): unknown => list?.map((entry) => without(entry, "time"));
  if (!sameJson(timeless(entries), timeless(old.metadata.managedFields))) return false;
  return sameJson({ ...object, metadata: { ...object.metadata, managedFields: old.metadata.managedFields } }, old);
}

/** Marked for deletion, without finalizers and without a grace period. */
function isGone(object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined || finalizers.length > 0 || deletionGracePeriodSeconds > 0) return false;
  const spec = object["spec"] as { finalizers?: unknown[] } | undefined;
  return object.kind !== "Namespace" || (spec?.finalizers?.length ?? 0) === 0;
}
