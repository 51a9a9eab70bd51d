/**
 * The status of a Deployment: its counts, and the conditions that `kubectl rollout status` and `kubectl wait` read.
 *
 *   Available     | as many pods are available as the strategy promises
 *   Progressing   | NewReplicaSetAvailable once all is rolled out; ReplicaSetUpdated before; ProgressDeadlineExceeded, and
 *                 | False, where nothing changed for `progressDeadlineSeconds`; DeploymentPaused (Unknown) while it is paused
 */
import type { JsonObject, KubeObject } from "../../contract.ts";
import { asArray, asObject, asString, sameJson } from "../../json.ts";
import { part } from "../../resource.ts";
import { timestamp } from "../../write/write.ts";
import { counted } from "./owned-pods.ts";
import { replicasOf } from "./replica-sets.ts";
import { rolloutLimits } from "./rollout.ts";

export interface DeploymentStatus {
  readonly status: JsonObject;
  /** When a rollout that makes no progress until then has failed. */
  readonly deadlineMs: number | undefined;
}

export function deploymentStatus(
  deployment: KubeObject,
  sets: readonly KubeObject[],
  current: KubeObject | undefined,
  nowMs: number,
): DeploymentStatus {
  const spec = part(deployment, "spec");
  const before = part(deployment, "status");
  const replicas = Number(spec["replicas"] ?? 1);
  const strategy = asObject(spec["strategy"]);
  const { maxUnavailable } = rolloutLimits(replicas, asObject(strategy["rollingUpdate"]));
  const total = (count: keyof ReturnType<typeof replicasOf>): number =>
    sets.reduce((sum, set) => sum + replicasOf(set)[count], 0);
  const available = total("available");
  const updated = current === undefined ? 0 : replicasOf(current).present;
  const wanted = total("wanted");
  const counts = counted({
    replicas: total("present"),
    updatedReplicas: updated,
    readyReplicas: total("ready"),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, wanted - available),
  });
  const isComplete = updated === replicas && total("present") === replicas && available === replicas;
  const least = strategy["type"] === "Recreate" ? replicas : replicas - maxUnavailable;
  const conditions = new Conditions(before, timestamp(nowMs));
  conditions.set(
    available >= least
      ? {
          type: "Available",
          status: "True",
          reason: "MinimumReplicasAvailable",
          message: "Deployment has minimum availability.",
        }
      : {
          type: "Available",
          status: "False",
          reason: "MinimumReplicasUnavailable",
          message: "Deployment does not have minimum availability.",
        },
  );
  const moved = !sameJson(counts, countsOf(before)) || before["observedGeneration"] !== deployment.metadata.generation;
  const since = Date.parse(asString(conditions.get("Progressing")?.["lastUpdateTime"]));
  const name = current?.metadata.name ?? "";
  const deadline =
    (Number.isNaN(since) || moved ? nowMs : since) + Number(spec["progressDeadlineSeconds"] ?? 600) * 1000;
  const wasLate = conditions.get("Progressing")?.["reason"] === "ProgressDeadlineExceeded";
  const isLate = !isComplete && !moved && (wasLate || nowMs >= deadline);
  conditions.set(
    spec["paused"] === true
      ? { type: "Progressing", status: "Unknown", reason: "DeploymentPaused", message: "Deployment is paused" }
      : isComplete
        ? {
            type: "Progressing",
            status: "True",
            reason: "NewReplicaSetAvailable",
            message: `ReplicaSet "${name}" has successfully progressed.`,
          }
        : isLate
          ? {
              type: "Progressing",
              status: "False",
              reason: "ProgressDeadlineExceeded",
              message: `ReplicaSet "${name}" has timed out progressing.`,
            }
          : {
              type: "Progressing",
              status: "True",
              reason: "ReplicaSetUpdated",
              message: `ReplicaSet "${name}" is progressing.`,
            },
    moved && !isComplete,
  );
  return {
    status: { observedGeneration: deployment.metadata.generation ?? 1, ...counts, conditions: conditions.list },
    deadlineMs: isComplete || isLate || spec["paused"] === true ? undefined : deadline,
  };
}

function countsOf({ observedGeneration: _generation, conditions: _conditions, ...counts }: JsonObject): JsonObject {
  return counts;
}

/** Conditions that keep their times where nothing about them changed. */
class Conditions {
  readonly #now: string;
  #list: readonly JsonObject[];

  constructor(status: JsonObject, now: string) {
    this.#list = asArray(status["conditions"]).map(asObject);
    this.#now = now;
  }

  get list(): readonly JsonObject[] {
    return this.#list;
  }

  get(type: string): JsonObject | undefined {
    return this.#list.find((condition) => condition["type"] === type);
  }

  /** `again`: gives it the time of an update though its words are the same. */
  set(condition: { type: string; status: string; reason: string; message: string }, again = false): void {
    const before = this.get(condition.type);
    const isSame = before?.["reason"] === condition.reason && before["message"] === condition.message;
    const lastTransitionTime = before?.["status"] === condition.status ? before["lastTransitionTime"] : this.#now;
    const lastUpdateTime = isSame && !again ? before["lastUpdateTime"] : this.#now;
    const next = { ...condition, lastUpdateTime, lastTransitionTime };
    this.#list =
      before === undefined ? [...this.#list, next] : this.#list.map((each) => (each === before ? next : each));
  }
}
