/**
 * DaemonSets, as kube-controller-manager has them: one pod on each node that fits and is tolerated, replaced one after the
 * other when the template changes.
 */
import type { HistoryEntry, JsonObject, KubeObject } from "../../contract.ts";
import { asArray, asObject, asString, sameJson } from "../../json.ts";
import { part } from "../../resource.ts";
import { keyOf } from "../../state.ts";
import type { DelayQueue } from "../delay-queue.ts";
import type { LoopClient } from "../loop-client.ts";
import { fitsNode, toleratesNode } from "../placement.ts";
import {
  availableAtMs,
  controlled,
  controllerOf,
  counted,
  createPod,
  isActive,
  isReady,
  templateHash,
} from "./owned-pods.ts";
import { absolute } from "./rollout.ts";

const DAEMON_SETS = "daemonsets.apps";
const HASH_LABEL = "controller-revision-hash";

/** A daemon stays on a node in trouble. */
const TOLERATED: readonly JsonObject[] = [
  { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/disk-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/memory-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/pid-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" },
];
const TOLERATED_ON_HOST_NETWORK = {
  key: "node.kubernetes.io/network-unavailable",
  operator: "Exists",
  effect: "NoSchedule",
};

export function runDaemonSets(client: LoopClient, queue: DelayQueue, { collection, object }: HistoryEntry): void {
  if (collection === "nodes") for (const set of client.all(DAEMON_SETS)) schedule(client, queue, keyOf(set), 0);
  const owner = collection === "pods" ? controllerOf(object) : undefined;
  const name = owner?.kind === "DaemonSet" ? owner.name : collection === DAEMON_SETS ? object.metadata.name : undefined;
  if (name !== undefined) schedule(client, queue, `${object.metadata.namespace ?? ""}/${name}`, 0);
}

function schedule(client: LoopClient, queue: DelayQueue, key: string, atMs: number): void {
  queue.schedule(`daemonset/${atMs === 0 ? "" : "available/"}${key}`, atMs, () => syncDaemonSet(client, queue, key));
}

function syncDaemonSet(client: LoopClient, queue: DelayQueue, key: string): void {
  const set = client.get(DAEMON_SETS, key);
  if (set === undefined || set.metadata.deletionTimestamp !== undefined) return;
  const hash = templateHash(part(set, "spec")["template"]);
  const nodes = nodesFor(client, set);
  const pods = controlled(client, set, "pods").filter(isActive);
  const [there, astray] = split(pods, (pod) => nodes.includes(nodeOf(pod)));
  for (const pod of astray) client.remove("pods", keyOf(pod));
  const covered = new Set(controlled(client, set, "pods").map(nodeOf)); // one that ends still holds its node
  for (const node of nodes) if (!covered.has(node)) createPod(client, set, { [HASH_LABEL]: hash }, onNode(set, node));
  replaceOutdated(client, set, there, hash, nodes.length);
  updateStatus(client, queue, key, hash, nodes);
}

function nodesFor(client: LoopClient, set: KubeObject): string[] {
  const spec = asObject(asObject(part(set, "spec")["template"])["spec"]);
  const tolerations = tolerationsOf(spec);
  return client
    .all("nodes")
    .filter((node) => fitsNode(spec, node) && toleratesNode([...tolerations, NOT_YET_READY], node))
    .map((node) => node.metadata.name ?? "");
}

/** A node that is about to become Ready gets its daemon at once. */
const NOT_YET_READY: JsonObject = { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoSchedule" };

function tolerationsOf(spec: JsonObject): JsonObject[] {
  const own = asArray(spec["tolerations"]).map(asObject);
  return [...own, ...TOLERATED, ...(spec["hostNetwork"] === true ? [TOLERATED_ON_HOST_NETWORK] : [])];
}

/** The scheduler would bind it to the node that its affinity names; here it is bound at once. */
function onNode(set: KubeObject, nodeName: string): JsonObject {
  const spec = asObject(asObject(part(set, "spec")["template"])["spec"]);
  const byName = { matchFields: [{ key: "metadata.name", operator: "In", values: [nodeName] }] };
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [byName] } };
  return { nodeName, affinity: { ...asObject(spec["affinity"]), nodeAffinity }, tolerations: tolerationsOf(spec) };
}

function nodeOf(pod: KubeObject): string {
  return asString(part(pod, "spec")["nodeName"]);
}

/** Pods of a former template go while no more than `maxUnavailable` nodes are without an available one. */
function replaceOutdated(
  client: LoopClient,
  set: KubeObject,
  pods: readonly KubeObject[],
  hash: string,
  nodes: number,
): void {
  const strategy = asObject(part(set, "spec")["updateStrategy"]);
  if (strategy["type"] !== "RollingUpdate") return;
  const most = Math.max(1, absolute(asObject(strategy["rollingUpdate"])["maxUnavailable"], nodes, Math.ceil));
  const minReadySeconds = Number(part(set, "spec")["minReadySeconds"] ?? 0);
  const isAvailable = (pod: KubeObject): boolean =>
    (availableAtMs(pod, minReadySeconds) ?? Number.POSITIVE_INFINITY) <= client.nowMs;
  const outdated = pods.filter((pod) => pod.metadata.labels?.[HASH_LABEL] !== hash);
  const [available, unavailable] = split(outdated, isAvailable);
  for (const pod of unavailable) client.remove("pods", keyOf(pod));
  const missing = nodes - pods.filter(isAvailable).length;
  for (const pod of available.slice(0, Math.max(0, most - missing))) client.remove("pods", keyOf(pod));
}

function split<T>(items: readonly T[], holds: (item: T) => boolean): [T[], T[]] {
  return [items.filter(holds), items.filter((item) => !holds(item))];
}

function updateStatus(
  client: LoopClient,
  queue: DelayQueue,
  key: string,
  hash: string,
  nodes: readonly string[],
): void {
  const set = client.get(DAEMON_SETS, key);
  if (set === undefined) return;
  const pods = controlled(client, set, "pods").filter(isActive);
  const there = pods.filter((pod) => nodes.includes(nodeOf(pod)));
  const times = there.flatMap((pod) => availableAtMs(pod, Number(part(set, "spec")["minReadySeconds"] ?? 0)) ?? []);
  const later = times.filter((atMs) => atMs > client.nowMs);
  if (later.length > 0) schedule(client, queue, key, Math.min(...later));
  const numberAvailable = times.length - later.length;
  const status = {
    currentNumberScheduled: new Set(there.map(nodeOf)).size,
    numberMisscheduled: pods.length - there.length,
    desiredNumberScheduled: nodes.length,
    numberReady: there.filter(isReady).length,
    observedGeneration: set.metadata.generation ?? 1,
    ...counted({
      updatedNumberScheduled: there.filter((pod) => pod.metadata.labels?.[HASH_LABEL] === hash).length,
      numberAvailable,
      numberUnavailable: nodes.length - numberAvailable,
    }),
  };
  if (!sameJson(status, set["status"])) client.put(DAEMON_SETS, { ...set, status });
}
