/**
 * The garbage collector of kube-controller-manager.
 *
 *   object whose owners are all deleted    | is deleted
 *   owner with `foregroundDeletion`        | dependents are deleted first; blocking dependents delay the owner
 *   owner with `orphan`                    | dependents lose their owner reference, then the owner is deleted
 */
import type { HistoryEntry, KubeObject } from "../contract.ts";
import type { ObjectRef } from "../indexes.ts";
import type { DelayQueue } from "./delay-queue.ts";
import type { LoopClient } from "./loop-client.ts";

export function collectGarbage(
  client: LoopClient,
  queue: DelayQueue,
  { type, collection, object }: HistoryEntry,
): void {
  const { uid = "", ownerReferences = [], deletionTimestamp, finalizers = [] } = object.metadata;
  const schedule = (key: string, task: () => void): void => queue.schedule(`garbage/${key}`, 0, task);
  if (type === "DELETED") {
    for (const [dependent, ref] of dependentsOf(client, uid)) schedule(dependent, () => collect(client, ref));
    for (const owner of ownerReferences) schedule(owner.uid, () => finishOwner(client, owner.uid));
    return;
  }
  if (ownerReferences.length > 0) schedule(uid, () => collectByUid(client, uid));
  const held = finalizers.includes("foregroundDeletion") || finalizers.includes("orphan");
  if (deletionTimestamp !== undefined && held) schedule(`owner/${collection}/${uid}`, () => finishOwner(client, uid));
}

function dependentsOf(client: LoopClient, uid: string): [string, ObjectRef][] {
  return [...(client.state.indexes.dependents.get(uid) ?? [])];
}

function collectByUid(client: LoopClient, uid: string): void {
  const ref = client.state.indexes.byUid.get(uid);
  if (ref !== undefined) collect(client, ref);
}

function collect(client: LoopClient, { collection, key }: ObjectRef): void {
  const object = client.get(collection, key);
  const owners = object?.metadata.ownerReferences ?? [];
  if (object === undefined || object.metadata.deletionTimestamp !== undefined || owners.length === 0) return;
  const alive = owners.some(({ uid }) => ownerExists(client, uid, object.metadata.namespace));
  if (!alive) client.remove(collection, key, { propagation: "Background" });
}

/** An owner counts if it is cluster-scoped or in the same namespace. */
function ownerExists(client: LoopClient, uid: string, namespace: string | undefined): boolean {
  const ref = client.state.indexes.byUid.get(uid);
  const owner = ref && client.get(ref.collection, ref.key);
  return owner !== undefined && (owner.metadata.namespace === undefined || owner.metadata.namespace === namespace);
}

function finishOwner(client: LoopClient, uid: string): void {
  const ref = client.state.indexes.byUid.get(uid);
  const owner = ref && client.get(ref.collection, ref.key);
  if (ref === undefined || owner?.metadata.deletionTimestamp === undefined) return;
  const finalizers = owner.metadata.finalizers ?? [];
  if (finalizers.includes("orphan")) {
    for (const [, dependent] of dependentsOf(client, uid)) removeOwnerReference(client, dependent, uid);
    removeFinalizer(client, ref.collection, owner, "orphan");
  } else if (finalizers.includes("foregroundDeletion")) {
    for (const [, dependent] of dependentsOf(client, uid)) {
      client.remove(dependent.collection, dependent.key, { propagation: "Foreground" });
    }
    if (!dependentsOf(client, uid).some(([, dependent]) => blocksOwnerDeletion(client, dependent, uid))) {
      removeFinalizer(client, ref.collection, owner, "foregroundDeletion");
    }
  }
}

function blocksOwnerDeletion(client: LoopClient, { collection, key }: ObjectRef, ownerUid: string): boolean {
  const owners = client.get(collection, key)?.metadata.ownerReferences ?? [];
  return owners.some((owner) => owner.uid === ownerUid && owner.blockOwnerDeletion === true);
}

function removeOwnerReference(client: LoopClient, { collection, key }: ObjectRef, ownerUid: string): void {
  const object = client.get(collection, key);
  if (object === undefined) return;
  const { ownerReferences = [], ...metadata } = object.metadata;
  const kept = ownerReferences.filter((owner) => owner.uid !== ownerUid);
  client.put(collection, {
    ...object,
    metadata: { ...metadata, ...(kept.length === 0 ? {} : { ownerReferences: kept }) },
  });
}

/** Removes a finalizer; removing the last one deletes a terminating object. */
export function removeFinalizer(client: LoopClient, collection: string, object: KubeObject, finalizer: string): void {
  const { finalizers = [], ...metadata } = object.metadata;
  const kept = finalizers.filter((name) => name !== finalizer);
  client.update(collection, {
    ...object,
    metadata: { ...metadata, ...(kept.length === 0 ? {} : { finalizers: kept }) },
  });
}
