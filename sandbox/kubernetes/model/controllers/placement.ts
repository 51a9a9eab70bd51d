/** Which nodes a pod may run on: node selector, required node affinity, and the taints that the pod tolerates. */
import type { JsonObject, KubeObject } from "../contract.ts";
import { asArray, asObject, asString } from "../json.ts";
import { part } from "../resource.ts";

/** Whether labels and required affinity of the pod's spec allow the node. */
export function fitsNode(spec: JsonObject, node: KubeObject): boolean {
  const labels = node.metadata.labels ?? {};
  const selected = Object.entries(asObject(spec["nodeSelector"])).every(([key, value]) => labels[key] === value);
  const required = asObject(asObject(spec["affinity"])["nodeAffinity"])[
    "requiredDuringSchedulingIgnoredDuringExecution"
  ];
  if (!selected || required === undefined) return selected;
  return asArray(asObject(required)["nodeSelectorTerms"]).some((term) => matchesTerm(asObject(term), node));
}

function matchesTerm(term: JsonObject, node: KubeObject): boolean {
  const labels = node.metadata.labels ?? {};
  const fields: Record<string, string> = { "metadata.name": node.metadata.name ?? "" };
  const expressions = asArray(term["matchExpressions"]).map(asObject);
  const onFields = asArray(term["matchFields"]).map(asObject);
  if (expressions.length + onFields.length === 0) return false;
  return (
    expressions.every((expression) => matchesExpression(expression, labels)) &&
    onFields.every((expression) => matchesExpression(expression, fields))
  );
}

function matchesExpression(expression: JsonObject, values: Readonly<Record<string, string>>): boolean {
  const value = values[asString(expression["key"])];
  const given = asArray(expression["values"]).map(asString);
  switch (expression["operator"]) {
    case "In":
      return value !== undefined && given.includes(value);
    case "NotIn":
      return value === undefined || !given.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return value !== undefined && Number(value) > Number(given[0]);
    case "Lt":
      return value !== undefined && Number(value) < Number(given[0]);
    default:
      return false;
  }
}

/** Whether a pod with these tolerations may be placed on the node; a cordon counts as a taint. */
export function toleratesNode(tolerations: readonly JsonObject[], node: KubeObject): boolean {
  const spec = part(node, "spec");
  const cordon = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };
  const taints = [...asArray(spec["taints"]).map(asObject), ...(spec["unschedulable"] === true ? [cordon] : [])];
  return taints
    .filter(({ effect }) => effect === "NoSchedule" || effect === "NoExecute")
    .every((taint) => tolerations.some((toleration) => tolerates(toleration, taint)));
}

function tolerates(toleration: JsonObject, taint: JsonObject): boolean {
  const { key, operator, value, effect } = toleration;
  if (asString(effect) !== "" && effect !== taint["effect"]) return false;
  if (asString(key) === "") return operator === "Exists";
  return key === taint["key"] && (operator === "Exists" || asString(value) === asString(taint["value"]));
}
