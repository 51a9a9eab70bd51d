/**
 * The status of PodDisruptionBudgets, as kube-controller-manager has it: how many of the pods that a budget selects may be
 * evicted now. Eviction itself stands in `write/evict.ts`.
 */
import type { HistoryEntry, JsonObject, KubeObject } from "../../contract.ts";
import { asArray, asObject, sameJson } from "../../json.ts";
import { part } from "../../resource.ts";
import { matchesSelector } from "../../read/label-selector.ts";
import { keyOf } from "../../state.ts";
import type { DelayQueue } from "../delay-queue.ts";
import type { LoopClient } from "../loop-client.ts";
import { controllerOf, isActive, isReady } from "./owned-pods.ts";
import { absolute } from "./rollout.ts";

const BUDGETS = "poddisruptionbudgets.policy";

export function countDisruptions(client: LoopClient, queue: DelayQueue, { collection, object }: HistoryEntry): void {
  if (collection !== BUDGETS && collection !== "pods") return;
  for (const budget of client.all(BUDGETS)) {
    if (budget.metadata.namespace !== object.metadata.namespace) continue;
    const key = keyOf(budget);
    queue.schedule(`budget/${key}`, 0, () => updateStatus(client, key));
  }
}

function updateStatus(client: LoopClient, key: string): void {
  const budget = client.get(BUDGETS, key);
  if (budget === undefined || budget.metadata.deletionTimestamp !== undefined) return;
  const spec = part(budget, "spec");
  const pods = client
    .all("pods")
    .filter((pod) => pod.metadata.namespace === budget.metadata.namespace && isActive(pod))
    .filter((pod) => matchesSelector(spec["selector"], pod.metadata.labels ?? {}));
  const expectedPods = expected(client, spec, pods);
  const desiredHealthy = desired(spec, expectedPods);
  const currentHealthy = pods.filter(isReady).length;
  const disruptionsAllowed = pods.length === 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy);
  const before = part(budget, "status");
  const status = {
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    observedGeneration: budget.metadata.generation ?? 1,
    conditions: [condition(before, disruptionsAllowed > 0, budget.metadata.generation ?? 1, client.now)],
  };
  if (!sameJson(status, before)) client.put(BUDGETS, { ...budget, status });
}

/** A budget in per cent, or of what may be missing, counts the pods that their workloads ask for. */
function expected(client: LoopClient, spec: JsonObject, pods: readonly KubeObject[]): number {
  if (typeof spec["minAvailable"] === "number") return pods.length;
  const workloads = new Map(pods.flatMap((pod) => (controllerOf(pod) ? [[controllerOf(pod)?.uid ?? "", pod]] : [])));
  const wanted = [...workloads.keys()].map((uid) => {
    const ref = client.state.indexes.byUid.get(uid);
    const workload = ref && client.get(ref.collection, ref.key);
    return workload === undefined
      ? 0
      : Number(part(workload, "spec")["replicas"] ?? part(workload, "status")["desiredNumberScheduled"] ?? 0);
  });
  return Math.max(
    pods.length,
    wanted.reduce((sum, each) => sum + each, 0),
  );
}

function desired(spec: JsonObject, expectedPods: number): number {
  const { minAvailable, maxUnavailable } = spec;
  if (maxUnavailable !== undefined)
    return Math.max(0, expectedPods - absolute(maxUnavailable, expectedPods, Math.ceil));
  return absolute(minAvailable ?? 1, expectedPods, Math.ceil);
}

function condition(before: JsonObject, allowed: boolean, generation: number, now: string): JsonObject {
  const [old] = asArray(before["conditions"]).map(asObject);
  const status = allowed ? "True" : "False";
  return {
    type: "DisruptionAllowed",
    status,
    observedGeneration: generation,
    lastTransitionTime: old?.["status"] === status ? old["lastTransitionTime"] : now,
    reason: allowed ? "SufficientPods" : "InsufficientPods",
    message: "",
  };
}
