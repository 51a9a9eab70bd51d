/**
 * What kube-controller-manager's garbage collector does.
 *
 *   an object whose owners are all gone    | is deleted
 *   an owner with `foregroundDeletion`     | dependents go first; those that block hold it
 *   an owner with `orphan`                 | dependents lose their reference to it, then it goes
 */
import type { HistoryEntry, KubeObject } from "../contract.ts";
import type { Place } from "../indexes.ts";
import type { Agenda } from "./agenda.ts";
import type { Inside } from "./inside.ts";

export function collectGarbage(inside: Inside, agenda: Agenda, { type, collection, object }: HistoryEntry): void {
  const { uid = "", ownerReferences = [], deletionTimestamp, finalizers = [] } = object.metadata;
  const later = (key: string, task: () => void): void => agenda.plan(`garbage/${key}`, 0, task);
  if (type === "DELETED") {
    for (const [dependent, place] of dependentsOf(inside, uid)) later(dependent, () => collect(inside, place));
    for (const owner of ownerReferences) later(owner.uid, () => finishOwner(inside, owner.uid));
    return;
  }
  if (ownerReferences.length > 0) later(uid, () => collectByUid(inside, uid));
  const held = finalizers.includes("foregroundDeletion") || finalizers.includes("orphan");
  if (deletionTimestamp !== undefined && held) later(`owner/${collection}/${uid}`, () => finishOwner(inside, uid));
}

function dependentsOf(inside: Inside, uid: string): [string, Place][] {
  return [...(inside.state.indexes.dependents.get(uid) ?? [])];
}

function collectByUid(inside: Inside, uid: string): void {
  const place = inside.state.indexes.byUid.get(uid);
  if (place !== undefined) collect(inside, place);
}

function collect(inside: Inside, { collection, key }: Place): void {
  const object = inside.get(collection, key);
  const owners = object?.metadata.ownerReferences ?? [];
  if (object === undefined || object.metadata.deletionTimestamp !== undefined || owners.length === 0) return;
  const alive = owners.some(({ uid }) => ownerIsThere(inside, uid, object.metadata.namespace));
  if (!alive) inside.remove(collection, key, { propagation: "Background" });
}

/** An owner counts if it is cluster-scoped or in the same namespace. */
function ownerIsThere(inside: Inside, uid: string, namespace: string | undefined): boolean {
  const place = inside.state.indexes.byUid.get(uid);
  const owner = place && inside.get(place.collection, place.key);
  return owner !== undefined && (owner.metadata.namespace === undefined || owner.metadata.namespace === namespace);
}

function finishOwner(inside: Inside, uid: string): void {
  const place = inside.state.indexes.byUid.get(uid);
  const owner = place && inside.get(place.collection, place.key);
  if (place === undefined || owner?.metadata.deletionTimestamp === undefined) return;
  const finalizers = owner.metadata.finalizers ?? [];
  if (finalizers.includes("orphan")) {
    for (const [, dependent] of dependentsOf(inside, uid)) disown(inside, dependent, uid);
    release(inside, place.collection, owner, "orphan");
  } else if (finalizers.includes("foregroundDeletion")) {
    for (const [, dependent] of dependentsOf(inside, uid)) {
      inside.remove(dependent.collection, dependent.key, { propagation: "Foreground" });
    }
    if (!dependentsOf(inside, uid).some(([, dependent]) => blocks(inside, dependent, uid))) {
      release(inside, place.collection, owner, "foregroundDeletion");
    }
  }
}

function blocks(inside: Inside, { collection, key }: Place, ownerUid: string): boolean {
  const owners = inside.get(collection, key)?.metadata.ownerReferences ?? [];
  return owners.some((owner) => owner.uid === ownerUid && owner.blockOwnerDeletion === true);
}

function disown(inside: Inside, { collection, key }: Place, ownerUid: string): void {
  const object = inside.get(collection, key);
  if (object === undefined) return;
  const { ownerReferences = [], ...metadata } = object.metadata;
  const kept = ownerReferences.filter((owner) => owner.uid !== ownerUid);
  inside.put(collection, {
    ...object,
    metadata: { ...metadata, ...(kept.length === 0 ? {} : { ownerReferences: kept }) },
  });
}

/** Takes a finalizer away; with the last one the object goes. */
export function release(inside: Inside, collection: string, object: KubeObject, finalizer: string): void {
  const { finalizers = [], ...metadata } = object.metadata;
  const kept = finalizers.filter((name) => name !== finalizer);
  inside.update(collection, {
    ...object,
    metadata: { ...metadata, ...(kept.length === 0 ? {} : { finalizers: kept }) },
  });
}
