/**
 * A kubelet on every node and a scheduler that takes turns. They fill in what nobody has set and leave alone what
 * someone has: a test that patches a node to NotReady, or a pod to not ready, finds it so afterwards.
 *
 *   a node without a Ready condition   | becomes Ready, and keeps its lease and conditions fresh while it is
 *   a node that is (not) Ready         | (has) loses the not-ready and unreachable taints
 *   a pod without a node               | gets the next schedulable one
 *   a pending pod on a node            | runs, with addresses, and is ready
 *   a pod that goes                    | is gone a second later
 */
import type { HistoryEntry, JsonObject, KubeObject } from "../contract.ts";
import { asArray, asObject, asString, sameJson } from "../json.ts";
import { part } from "../resource.ts";
import { keyOf } from "../state.ts";
import type { Agenda } from "./agenda.ts";
import type { Inside } from "./inside.ts";
import { nodeConditions, nodeInfo, runningStatus } from "./kubelet-status.ts";

const TERMINATE_AFTER_MS = 1_000;
const RENEW_LEASES_EVERY_MS = 20_000;
const HEARTBEAT_EVERY_MS = 300_000;
const LEASES = "leases.coordination.k8s.io";
const LEASE_NAMESPACE = "kube-node-lease";

export function runKubelets(inside: Inside, agenda: Agenda, { type, collection, object }: HistoryEntry): void {
  if (type === "DELETED") return;
  const key = keyOf(object);
  if (collection === "nodes") {
    agenda.plan(`node/${key}`, 0, () => tendNode(inside, key));
    planLeases(inside, agenda);
    // Pods may have waited for a node.
    for (const pod of inside.all("pods")) if (!isBound(pod)) planPod(inside, agenda, pod);
  }
  if (collection === "pods") planPod(inside, agenda, object);
}

function planPod(inside: Inside, agenda: Agenda, pod: KubeObject): void {
  const key = keyOf(pod);
  const going = pod.metadata.deletionTimestamp !== undefined;
  const atMs = going ? inside.nowMs + TERMINATE_AFTER_MS : 0;
  agenda.plan(`pod/${going ? "end/" : ""}${key}`, atMs, () => tendPod(inside, key));
}

function tendNode(inside: Inside, name: string): void {
  const node = inside.get("nodes", name);
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
            conditions: [...asArray(status["conditions"]), ...nodeConditions(inside.now)],
          },
        }
      : node;
  inside.put("nodes", { ...fresh, spec: withTaints(part(fresh, "spec"), ready === "" ? "True" : ready) });
  if (ready === "") beat(inside, fresh);
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

function planLeases(inside: Inside, agenda: Agenda): void {
  agenda.plan("renew-leases", inside.nowMs + RENEW_LEASES_EVERY_MS, () => {
    for (const node of inside.all("nodes")) if (readyOf(node) === "True") beat(inside, node);
    planLeases(inside, agenda);
  });
}

function beat(inside: Inside, node: KubeObject): void {
  const name = node.metadata.name ?? "";
  const renewTime = `${inside.now.slice(0, -1)}.000000Z`;
  const existing = inside.get(LEASES, `${LEASE_NAMESPACE}/${name}`);
  if (existing === undefined) inside.create(LEASES, newLease(node, renewTime));
  else inside.put(LEASES, { ...existing, spec: { ...part(existing, "spec"), renewTime } });
  const conditions = asArray(part(node, "status")["conditions"]).map(asObject);
  const beatAt = asString(conditions.find((condition) => condition["type"] === "Ready")?.["lastHeartbeatTime"]);
  if (inside.nowMs - (Date.parse(beatAt) || 0) < HEARTBEAT_EVERY_MS) return;
  const fresh = conditions.map((condition) => ({ ...condition, lastHeartbeatTime: inside.now }));
  inside.put("nodes", { ...node, status: { ...part(node, "status"), conditions: fresh } });
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

function tendPod(inside: Inside, key: string): void {
  const pod = inside.get("pods", key);
  if (pod === undefined) return;
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (isBound(pod)) inside.remove("pods", key, { gracePeriodSeconds: 0 });
    return;
  }
  if (!isBound(pod)) return bind(inside, pod);
  if (part(pod, "status")["phase"] !== "Pending") return;
  const node = inside.get("nodes", asString(part(pod, "spec")["nodeName"]));
  if (node !== undefined) inside.put("pods", { ...pod, status: runningStatus(inside, pod, node) });
}

/** The schedulable node with the fewest pods; the first by name among equals. */
function bind(inside: Inside, pod: KubeObject): void {
  const load = new Map<string, number>();
  for (const other of inside.all("pods")) {
    const name = asString(part(other, "spec")["nodeName"]);
    load.set(name, (load.get(name) ?? 0) + 1);
  }
  const names = inside
    .all("nodes")
    .filter((node) => readyOf(node) === "True" && part(node, "spec")["unschedulable"] !== true)
    .map((node) => node.metadata.name ?? "")
    .sort();
  const [nodeName] = names.toSorted((left, right) => (load.get(left) ?? 0) - (load.get(right) ?? 0));
  if (nodeName !== undefined) inside.put("pods", { ...pod, spec: { ...part(pod, "spec"), nodeName } });
}
