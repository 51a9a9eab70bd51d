/**
 * DELETE: removes an object at once, or marks it with a deletionTimestamp and keeps it while something holds it.
 *
 *   held by                          | until
 *   ---------------------------------|-------------------------------------------
 *   finalizers                       | the last one is removed
 *   grace period of a bound pod      | the kubelet deletes it with grace period 0
 *   content of a namespace           | the namespace controller has finalized it
 *   propagation Foreground, Orphan   | the garbage collector has removed its finalizer
 */
import type { JsonObject, KubeObject } from "../contract.ts";
import { asObject, asString } from "../json.ts";
import { part } from "../resource.ts";
import { keyOf, objectAt } from "../state.ts";
import { badRequest, conflict, notFound } from "../status-error.ts";
import { fromStored, timestamp, type Write, type Written } from "./write.ts";

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagation?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

const PROPAGATION_FINALIZER: Readonly<Record<string, string>> = { Foreground: "foregroundDeletion", Orphan: "orphan" };

export function parseDeleteOptions(body: unknown, query: Readonly<Record<string, string>>): DeleteOptions {
  const options = asObject(body);
  const preconditions = asObject(options["preconditions"]);
  const grace = options["gracePeriodSeconds"] ?? numberIn(query["gracePeriodSeconds"]);
  const propagation = asString(options["propagationPolicy"] ?? query["propagationPolicy"]);
  if (propagation !== "" && !["Background", "Foreground", "Orphan"].includes(propagation)) {
    throw badRequest(`invalid propagationPolicy "${propagation}": use Background, Foreground or Orphan`);
  }
  const { uid, resourceVersion } = preconditions as JsonObject & { uid?: string; resourceVersion?: string };
  return {
    ...(typeof grace === "number" ? { gracePeriodSeconds: grace } : {}),
    ...(propagation === "" ? {} : { propagation }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

function numberIn(value: string | undefined): number | undefined {
  return value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined;
}

export function remove(write: Write, name: string, options: DeleteOptions): Written {
  const { resource } = write;
  const key = keyOf({ metadata: { name, ...(write.namespace === undefined ? {} : { namespace: write.namespace }) } });
  const old = objectAt(write.state, resource.collection, key);
  if (old === undefined) throw notFound(resource, name);
  checkPreconditions(write, old, options);
  return removeStored(write, old, options);
}

export function removeStored(write: Write, old: KubeObject, options: DeleteOptions): Written {
  const { resource } = write;
  const marked = mark(write, old, options);
  if (!isHeld(marked)) {
    if (write.dryRun) return { object: fromStored(resource, old), removed: true };
    return {
      object: fromStored(resource, write.transaction.record("DELETED", resource.collection, old)),
      removed: true,
    };
  }
  if (marked === old || write.dryRun) return { object: fromStored(resource, marked) };
  return { object: fromStored(resource, write.transaction.record("MODIFIED", resource.collection, marked)) };
}

function checkPreconditions(write: Write, old: KubeObject, options: DeleteOptions): void {
  const name = old.metadata.name ?? "";
  if (options.uid !== undefined && options.uid !== old.metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${options.uid}, UID in object meta: ${old.metadata.uid}`;
    throw conflict(write.resource, name, why);
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== old.metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${old.metadata.resourceVersion}). The object might have been modified`;
    throw conflict(write.resource, name, why);
  }
}

/** The object marked for deletion; `old` itself if the request changes nothing. */
function mark(write: Write, old: KubeObject, options: DeleteOptions): KubeObject {
  const grace = graceOf(old, options);
  const already = old.metadata.deletionTimestamp !== undefined;
  if (already && grace >= (old.metadata.deletionGracePeriodSeconds ?? 0)) return old;
  const holder = PROPAGATION_FINALIZER[options.propagation ?? ""];
  const held = old.metadata.finalizers ?? [];
  const finalizers = holder === undefined || held.includes(holder) ? held : [...held, holder];
  const marked: KubeObject = {
    ...old,
    metadata: {
      ...old.metadata,
      deletionTimestamp: timestamp(write.nowMs + grace * 1000),
      deletionGracePeriodSeconds: grace,
      ...(finalizers.length === 0 ? {} : { finalizers }),
      ...(write.resource.generation && !already ? { generation: (old.metadata.generation ?? 1) + 1 } : {}),
    },
  };
  return already ? marked : (write.resource.behaviour.prepareDelete?.(marked) ?? marked);
}

/** Only a pod bound to a node has a grace period. */
function graceOf(object: KubeObject, options: DeleteOptions): number {
  const spec = part(object, "spec");
  if (object.kind !== "Pod" || asString(spec["nodeName"]) === "") return 0;
  if (["Succeeded", "Failed"].includes(asString(part(object, "status")["phase"]))) return 0;
  return options.gracePeriodSeconds ?? Number(spec["terminationGracePeriodSeconds"] ?? 30);
}

function isHeld(object: KubeObject): boolean {
  if ((object.metadata.finalizers?.length ?? 0) > 0) return true;
  if ((object.metadata.deletionGracePeriodSeconds ?? 0) > 0) return true;
  return (
    object.kind === "Namespace" && ((part(object, "spec")["finalizers"] as unknown[] | undefined)?.length ?? 0) > 0
  );
}
