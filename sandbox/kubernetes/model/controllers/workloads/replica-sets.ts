/** ReplicaSets, as kube-controller-manager has them: as many pods as `spec.replicas` says, and a status that counts them. */
import type { HistoryEntry, KubeObject } from "../../contract.ts";
import { asObject, sameJson } from "../../json.ts";
import { part } from "../../resource.ts";
import { keyOf } from "../../state.ts";
import type { DelayQueue } from "../delay-queue.ts";
import type { LoopClient } from "../loop-client.ts";
import {
  availableAtMs,
  controlled,
  controllerOf,
  counted,
  createPod,
  isActive,
  isReady,
  removePods,
} from "./owned-pods.ts";

export const REPLICA_SETS = "replicasets.apps";

export function runReplicaSets(client: LoopClient, queue: DelayQueue, { collection, object }: HistoryEntry): void {
  const owner = collection === "pods" ? controllerOf(object) : undefined;
  const name =
    owner?.kind === "ReplicaSet" ? owner.name : collection === REPLICA_SETS ? object.metadata.name : undefined;
  if (name === undefined) return;
  schedule(client, queue, `${object.metadata.namespace ?? ""}/${name}`, 0);
}

function schedule(client: LoopClient, queue: DelayQueue, key: string, atMs: number): void {
  const later = atMs === 0 ? "" : "available/";
  queue.schedule(`replicaset/${later}${key}`, atMs, () => syncReplicaSet(client, queue, key));
}

function syncReplicaSet(client: LoopClient, queue: DelayQueue, key: string): void {
  const set = client.get(REPLICA_SETS, key);
  if (set === undefined || set.metadata.deletionTimestamp !== undefined) return;
  const spec = part(set, "spec");
  const pods = controlled(client, set, "pods").filter(isActive);
  const missing = Number(spec["replicas"] ?? 1) - pods.length;
  for (let made = 0; made < missing; made++) createPod(client, set, {}, {});
  removePods(client, pods, -missing);
  updateStatus(client, queue, key);
}

function updateStatus(client: LoopClient, queue: DelayQueue, key: string): void {
  const set = client.get(REPLICA_SETS, key);
  if (set === undefined) return;
  const pods = controlled(client, set, "pods").filter(isActive);
  const minReadySeconds = Number(part(set, "spec")["minReadySeconds"] ?? 0);
  const times = pods.flatMap((pod) => availableAtMs(pod, minReadySeconds) ?? []);
  const later = times.filter((atMs) => atMs > client.nowMs);
  if (later.length > 0) schedule(client, queue, key, Math.min(...later));
  const status = {
    replicas: pods.length,
    ...counted({
      fullyLabeledReplicas: pods.filter((pod) => hasTemplateLabels(set, pod)).length,
      readyReplicas: pods.filter(isReady).length,
      availableReplicas: times.length - later.length,
    }),
    observedGeneration: set.metadata.generation ?? 1,
  };
  if (!sameJson(status, set["status"])) client.put(REPLICA_SETS, { ...set, status });
}

function hasTemplateLabels(set: KubeObject, pod: KubeObject): boolean {
  const wanted = asObject(asObject(asObject(part(set, "spec")["template"])["metadata"])["labels"]);
  return Object.entries(wanted).every(([name, value]) => pod.metadata.labels?.[name] === value);
}

/** The number of pods that a ReplicaSet is asked for, and that its status counts. */
export function replicasOf(set: KubeObject): {
  readonly wanted: number;
  readonly available: number;
  readonly ready: number;
  readonly present: number;
} {
  const status = part(set, "status");
  return {
    wanted: Number(part(set, "spec")["replicas"] ?? 1),
    available: Number(status["availableReplicas"] ?? 0),
    ready: Number(status["readyReplicas"] ?? 0),
    present: Number(status["replicas"] ?? 0),
  };
}

/** Asks for another number of pods; returns whether that is a change. */
export function scaleTo(client: LoopClient, set: KubeObject, replicas: number): boolean {
  const current = client.get(REPLICA_SETS, keyOf(set));
  if (current === undefined || replicasOf(current).wanted === replicas) return false;
  client.update(REPLICA_SETS, { ...current, spec: { ...part(current, "spec"), replicas } });
  return true;
}
