/** POST to a pod's `eviction`: deletes the pod, unless a PodDisruptionBudget that selects it allows no disruption now. */
import type { JsonObject, KubeObject } from "../contract.ts";
import { asObject, asString } from "../json.ts";
import { matchesSelector } from "../read/label-selector.ts";
import { part } from "../resource.ts";
import { keyOf, objectAt, objectsIn } from "../state.ts";
import { badRequest, notFound, StatusError } from "../status-error.ts";
import { parseDeleteOptions, removeStored } from "./delete.ts";
import type { Write } from "./write.ts";

const BUDGETS = "poddisruptionbudgets.policy";

export function evict(write: Write, name: string, body: unknown): JsonObject {
  const { resource, namespace } = write;
  const pod = objectAt(
    write.state,
    "pods",
    keyOf({ metadata: { name, ...(namespace === undefined ? {} : { namespace }) } }),
  );
  const eviction = asObject(body);
  const given = asString(asObject(eviction["metadata"])["name"]);
  if (given !== "" && given !== name) throw badRequest("name in URL does not match name in Eviction object");
  if (pod === undefined) throw notFound(resource, name);
  if (needsBudget(pod)) useBudget(write, pod);
  removeStored(write, pod, parseDeleteOptions(eviction["deleteOptions"], {}));
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
}

/** A pod that has ended, is ending or never ran disturbs nobody. */
function needsBudget(pod: KubeObject): boolean {
  const phase = asString(part(pod, "status")["phase"]);
  return pod.metadata.deletionTimestamp === undefined && !["Succeeded", "Failed", "Pending"].includes(phase);
}

function useBudget(write: Write, pod: KubeObject): void {
  const budgets = [...objectsIn(write.state, BUDGETS)].filter(
    (budget) =>
      budget.metadata.namespace === pod.metadata.namespace &&
      matchesSelector(part(budget, "spec")["selector"], pod.metadata.labels ?? {}),
  );
  const [budget] = budgets;
  if (budgets.length > 1) {
    throw new StatusError(
      500,
      "",
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    );
  }
  if (budget === undefined) return;
  const status = part(budget, "status");
  const allowed = Number(status["disruptionsAllowed"] ?? 0);
  if (allowed <= 0 || Number(status["observedGeneration"] ?? 0) < (budget.metadata.generation ?? 1))
    throw refusal(budget);
  if (write.dryRun) return;
  write.transaction.record("MODIFIED", BUDGETS, { ...budget, status: { ...status, disruptionsAllowed: allowed - 1 } });
}

function refusal(budget: KubeObject): StatusError {
  const { name = "", generation = 1 } = budget.metadata;
  const status = part(budget, "status");
  const stale = Number(status["observedGeneration"] ?? 0) < generation;
  const message = stale
    ? `The disruption budget ${name} is still being processed by the server.`
    : `The disruption budget ${name} needs ${Number(status["desiredHealthy"] ?? 0)} healthy pods and has ${Number(status["currentHealthy"] ?? 0)} currently`;
  return new StatusError(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: "DisruptionBudget", message }],
    ...(stale ? { retryAfterSeconds: 10 } : {}),
  });
}
