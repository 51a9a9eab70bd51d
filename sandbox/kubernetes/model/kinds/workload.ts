/** Deployments, ReplicaSets and DaemonSets: their defaults, the status of a new one, and that they select their own Pods. */
import type { JsonObject, KubeObject } from "../contract.ts";
import { asObject, sameJson } from "../json.ts";
import { part, type Resource } from "../resource.ts";
import { type Cause, invalidValue, required } from "../status-error.ts";
import { podSpecDefaults } from "./pod.ts";

type Workload = "DaemonSet" | "Deployment" | "ReplicaSet";

export function isWorkload(kind: string): kind is Workload {
  return kind === "DaemonSet" || kind === "Deployment" || kind === "ReplicaSet";
}

const NEW_STATUS: Readonly<Record<Workload, JsonObject>> = {
  DaemonSet: { currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 },
  Deployment: {},
  ReplicaSet: { replicas: 0 },
};

export function workloadBehaviour(kind: Workload): Resource["behaviour"] {
  return {
    setDefaults: (object) => ({ ...object, spec: withDefaults(kind, part(object, "spec")) }),
    prepareCreate: (object) => ({ ...object, status: NEW_STATUS[kind] }),
    validate,
  };
}

function withDefaults(kind: Workload, spec: JsonObject): JsonObject {
  const template = asObject(spec["template"]);
  const filled = { ...spec, template: { ...template, spec: podSpecDefaults(asObject(template["spec"])) } };
  switch (kind) {
    case "ReplicaSet":
      return { replicas: 1, ...filled };
    case "Deployment": {
      const strategy = rolling(spec["strategy"], { maxUnavailable: "25%", maxSurge: "25%" });
      return { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600, ...filled, strategy };
    }
    case "DaemonSet": {
      const updateStrategy = rolling(spec["updateStrategy"], { maxUnavailable: 1, maxSurge: 0 });
      return { revisionHistoryLimit: 10, ...filled, updateStrategy };
    }
  }
}

function rolling(given: unknown, defaults: JsonObject): JsonObject {
  const strategy = { type: "RollingUpdate", ...asObject(given) };
  if (strategy.type !== "RollingUpdate") return strategy;
  return { ...strategy, rollingUpdate: { ...defaults, ...asObject((strategy as JsonObject)["rollingUpdate"]) } };
}

function validate(object: KubeObject, old: KubeObject | undefined): Cause[] {
  const { selector, template } = part(object, "spec");
  if (selector === undefined) return [required("spec.selector")];
  const labels = asObject(asObject(asObject(template)["metadata"])["labels"]);
  const wanted = Object.entries(asObject(asObject(selector)["matchLabels"]));
  const problems: Cause[] = [];
  if (!wanted.every(([key, value]) => labels[key] === value)) {
    const why = "`selector` does not match template `labels`";
    problems.push(invalidValue("spec.template.metadata.labels", labels, why));
  }
  if (old !== undefined && !sameJson(selector, part(old, "spec")["selector"])) {
    problems.push(invalidValue("spec.selector", selector, "field is immutable"));
  }
  return problems;
}
