/** The pods of a workload: which ones it controls, how far they are, and a new one made from its template. */
import type { JsonObject, KubeObject } from "../../contract.ts";
import { asArray, asObject, asString } from "../../json.ts";
import { part } from "../../resource.ts";
import { keyOf } from "../../state.ts";
import type { LoopClient } from "../loop-client.ts";

/** The objects of a collection that this object controls. */
export function controlled(client: LoopClient, owner: KubeObject, collection: string): KubeObject[] {
  const { uid = "" } = owner.metadata;
  const refs = [...(client.state.indexes.dependents.get(uid)?.values() ?? [])];
  return refs
    .filter((ref) => ref.collection === collection)
    .flatMap((ref) => client.get(collection, ref.key) ?? [])
    .filter((object) => controllerOf(object)?.uid === uid);
}

export function controllerOf(
  object: KubeObject,
): { readonly kind: string; readonly name: string; readonly uid: string } | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true);
}

/** Neither ended nor about to end. */
export function isActive(pod: KubeObject): boolean {
  const { phase } = part(pod, "status");
  return pod.metadata.deletionTimestamp === undefined && phase !== "Succeeded" && phase !== "Failed";
}

export function isReady(pod: KubeObject): boolean {
  return readyCondition(pod)?.["status"] === "True";
}

/** When a ready pod counts as available; undefined for one that is not ready. */
export function availableAtMs(pod: KubeObject, minReadySeconds: number): number | undefined {
  if (!isReady(pod)) return undefined;
  const since = Date.parse(asString(readyCondition(pod)?.["lastTransitionTime"]));
  return minReadySeconds === 0 || Number.isNaN(since) ? 0 : since + minReadySeconds * 1000;
}

function readyCondition(pod: KubeObject): JsonObject | undefined {
  return asArray(part(pod, "status")["conditions"])
    .map(asObject)
    .find(({ type }) => type === "Ready");
}

export function createPod(client: LoopClient, owner: KubeObject, labels: JsonObject, spec: JsonObject): void {
  const template = asObject(part(owner, "spec")["template"]);
  const meta = asObject(template["metadata"]);
  client.create("pods", {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      generateName: `${owner.metadata.name ?? ""}-`,
      namespace: owner.metadata.namespace ?? "",
      labels: { ...asObject(meta["labels"]), ...labels } as Record<string, string>,
      ...(meta["annotations"] === undefined ? {} : { annotations: meta["annotations"] as Record<string, string> }),
      ...(meta["finalizers"] === undefined ? {} : { finalizers: meta["finalizers"] as string[] }),
      ownerReferences: [ownedBy(owner)],
    },
    spec: { ...asObject(template["spec"]), ...spec },
  });
}

export function ownedBy(owner: KubeObject): NonNullable<KubeObject["metadata"]["ownerReferences"]>[number] {
  const { apiVersion, kind } = owner;
  const { name = "", uid = "" } = owner.metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** Removes the pods that are missed least: unbound before bound, not ready before ready, young before old. */
export function removePods(client: LoopClient, pods: readonly KubeObject[], count: number): void {
  const worth = (pod: KubeObject): number =>
    asString(part(pod, "spec")["nodeName"]) === "" ? 0 : isReady(pod) ? 2 : 1;
  const age = (pod: KubeObject): number => Number(pod.metadata.resourceVersion);
  const victims = pods.toSorted((left, right) => worth(left) - worth(right) || age(right) - age(left));
  for (const pod of victims.slice(0, Math.max(0, count))) client.remove("pods", keyOf(pod));
}

/** A count of a status, which Go leaves out where it is zero. */
export function counted(counts: Readonly<Record<string, number>>): JsonObject {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

const LETTERS = "bcdfghjklmnpqrstvwxz2456789";

/** A short name for a template: equal templates have equal ones, whatever the order of their keys. */
export function templateHash(template: unknown): string {
  let value = 0x811c9dc5;
  const text = JSON.stringify(sorted(template));
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  let rest = value >>> 0;
  let name = "";
  for (; rest > 0 || name === ""; rest = Math.floor(rest / LETTERS.length)) name += LETTERS[rest % LETTERS.length];
  return name;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]));
}
