/**
 * Simulates the kubelets and the scheduler. They fill in missing fields and keep existing ones: a node or pod that a test
 * patched to not ready stays so.
 *
 *   node without a Ready condition     | becomes Ready; its Lease and conditions are renewed while it is Ready
 *   node that is (not) Ready           | loses (gets) the not-ready or unreachable taints
 *   pod without a node                 | is bound to the node with the fewest pods, among those that it fits and tolerates
 *   pending pod on a node              | becomes Running and ready, with addresses
 *   running pod with readiness gates   | is ready while other controllers' conditions meet them
 *   terminating pod                    | is deleted after a second
 */
import type { HistoryEntry, JsonObject, KubeObject } from "../contract.ts";
import { asArray, asObject, asString, sameJson } from "../json.ts";
import { part } from "../resource.ts";
import { keyOf } from "../state.ts";
import type { DelayQueue } from "./delay-queue.ts";
import type { LoopClient } from "./loop-client.ts";
import { gatedConditions, nodeConditions, nodeInfo, runningStatus } from "./kubelet-status.ts";
import { fitsNode, toleratesNode } from "./placement.ts";

const TERMINATE_AFTER_MS = 1_000;
const RENEW_LEASES_EVERY_MS = 20_000;
const HEARTBEAT_EVERY_MS = 300_000;
const LEASES = "leases.coordination.k8s.io";
const LEASE_NAMESPACE = "kube-node-lease";

export function runKubelets(client: LoopClient, queue: DelayQueue, { type, collection, object }: HistoryEntry): void {
  if (type === "DELETED") return;
  const key = keyOf(object);
  if (collection === "nodes") {
    queue.schedule(`node/${key}`, 0, () => syncNode(client, key));
    scheduleLeases(client, queue);
    // Unbound pods may fit on this node.
    for (const pod of client.all("pods")) if (!isBound(pod)) schedulePod(client, queue, pod);
  }
  if (collection === "pods") schedulePod(client, queue, object);
}

function schedulePod(client: LoopClient, queue: DelayQueue, pod: KubeObject): void {
  const key = keyOf(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const atMs = terminating ? client.nowMs + TERMINATE_AFTER_MS : 0;
  queue.schedule(`pod/${terminating ? "end/" : ""}${key}`, atMs, () => syncPod(client, key));
}

function syncNode(client: LoopClient, name: string): void {
  const node = client.get("nodes", name);
  if (node === undefined) return;
  const status = part(node, "status");
  const ready = readyOf(node);
  const fresh: KubeObject =
    ready === ""
      ? {
          ...node,
          status: {
            ...nodeInfo(),
            ...status,
            conditions: [...asArray(status["conditions"]), ...nodeConditions(client.now)],
          },
        }
      : node;
  client.put("nodes", { ...fresh, spec: withTaints(part(fresh, "spec"), ready === "" ? "True" : ready) });
  if (ready === "") heartbeat(client, fresh);
}

const TAINT_KEYS: Readonly<Record<string, string>> = {
  False: "node.kubernetes.io/not-ready",
  Unknown: "node.kubernetes.io/unreachable",
};

function withTaints(spec: JsonObject, ready: string): JsonObject {
  const ours = Object.values(TAINT_KEYS);
  const others = asArray(spec["taints"]).filter((taint) => !ours.includes(asString(asObject(taint)["key"])));
  const key = TAINT_KEYS[ready];
  const wanted = key === undefined ? [] : ["NoSchedule", "NoExecute"].map((effect) => ({ key, effect }));
  const { taints: before, ...rest } = spec;
  const taints = [...others, ...wanted];
  if (sameJson(taints, before ?? [])) return spec;
  return taints.length === 0 ? rest : { ...rest, taints };
}

function readyOf(node: KubeObject): string {
  const conditions = asArray(part(node, "status")["conditions"]).map(asObject);
  return asString(conditions.find((condition) => condition["type"] === "Ready")?.["status"]);
}

function scheduleLeases(client: LoopClient, queue: DelayQueue): void {
  queue.schedule("renew-leases", client.nowMs + RENEW_LEASES_EVERY_MS, () => {
    for (const node of client.all("nodes")) if (readyOf(node) === "True") heartbeat(client, node);
    scheduleLeases(client, queue);
  });
}

function heartbeat(client: LoopClient, node: KubeObject): void {
  const name = node.metadata.name ?? "";
  const renewTime = `${client.now.slice(0, -1)}.000000Z`;
  const existing = client.get(LEASES, `${LEASE_NAMESPACE}/${name}`);
  if (existing === undefined) client.create(LEASES, newLease(node, renewTime));
  else client.put(LEASES, { ...existing, spec: { ...part(existing, "spec"), renewTime } });
  const conditions = asArray(part(node, "status")["conditions"]).map(asObject);
  const heartbeatAt = asString(conditions.find((condition) => condition["type"] === "Ready")?.["lastHeartbeatTime"]);
  if (client.nowMs - (Date.parse(heartbeatAt) || 0) < HEARTBEAT_EVERY_MS) return;
  const fresh = conditions.map((condition) => ({ ...condition, lastHeartbeatTime: client.now }));
  client.put("nodes", { ...node, status: { ...part(node, "status"), conditions: fresh } });
}

function newLease(node: KubeObject, renewTime: string): KubeObject {
  const { name = "", uid = "" } = node.metadata;
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name, namespace: LEASE_NAMESPACE, ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }] },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime },
  };
}

function isBound(pod: KubeObject): boolean {
  return asString(part(pod, "spec")["nodeName"]) !== "";
}

function syncPod(client: LoopClient, key: string): void {
  const pod = client.get("pods", key);
  if (pod === undefined) return;
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (isBound(pod)) client.remove("pods", key, { gracePeriodSeconds: 0 });
    return;
  }
  if (!isBound(pod)) return bind(client, pod);
  const { phase } = part(pod, "status");
  if (phase === "Running") return syncReadiness(client, pod);
  if (phase !== "Pending") return;
  const node = client.get("nodes", asString(part(pod, "spec")["nodeName"]));
  if (node !== undefined) client.put("pods", { ...pod, status: runningStatus(client, pod, node) });
}

function syncReadiness(client: LoopClient, pod: KubeObject): void {
  if (asArray(part(pod, "spec")["readinessGates"]).length === 0) return;
  client.put("pods", { ...pod, status: { ...part(pod, "status"), conditions: gatedConditions(pod, client.now) } });
}

/** The node with the fewest pods among those that the pod may run on; the first by name among equals. */
function bind(client: LoopClient, pod: KubeObject): void {
  const load = new Map<string, number>();
  for (const other of client.all("pods")) {
    const name = asString(part(other, "spec")["nodeName"]);
    load.set(name, (load.get(name) ?? 0) + 1);
  }
  const spec = part(pod, "spec");
  const tolerations = asArray(spec["tolerations"]).map(asObject);
  const names = client
    .all("nodes")
    .filter((node) => readyOf(node) === "True" && fitsNode(spec, node) && toleratesNode(tolerations, node))
    .map((node) => node.metadata.name ?? "")
    .sort();
  const [nodeName] = names.toSorted((left, right) => (load.get(left) ?? 0) - (load.get(right) ?? 0));
  if (nodeName !== undefined) client.put("pods", { ...pod, spec: { ...spec, nodeName } });
}
