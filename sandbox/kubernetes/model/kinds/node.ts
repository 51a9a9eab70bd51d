/** Nodes: their schema, printing and validation. A new node gets the not-ready taint; providerID is immutable once set. */
import type { JsonObject, KubeObject } from "../contract.ts";
import { asArray, asObject, asString } from "../json.ts";
import { ageColumn, column, nameColumn, wide } from "../read/column.ts";
import { part } from "../resource.ts";
import {
  anyObject,
  anything,
  condition,
  flag,
  listOf,
  mapOf,
  mergeList,
  mergeSet,
  struct,
  text,
  time,
} from "../schema/schema.ts";
import { type Cause, duplicate, forbiddenField, invalidValue, notSupported, required } from "../status-error.ts";
import { defineKind } from "./define.ts";
import { labelValueProblems, qualifiedNameProblems } from "./metadata.ts";

const NOT_READY_TAINT = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

function taintsOf(node: KubeObject): JsonObject[] {
  return asArray(part(node, "spec")["taints"]).map(asObject);
}

/** The TaintNodesByCondition admission plugin. */
function withNotReadyTaint(node: KubeObject): KubeObject {
  const taints = taintsOf(node);
  if (taints.some((taint) => taint["key"] === NOT_READY_TAINT.key && taint["effect"] === NOT_READY_TAINT.effect)) {
    return node;
  }
  return { ...node, spec: { ...part(node, "spec"), taints: [...taints, NOT_READY_TAINT] } };
}

function taintProblems(node: KubeObject): Cause[] {
  const seen = new Set<string>();
  return taintsOf(node).flatMap((taint, index) => {
    const at = `metadata.taints[${index}]`;
    const key = asString(taint["key"]);
    const effect = asString(taint["effect"]);
    const causes = qualifiedNameProblems(key).map((problem) => invalidValue(`${at}.key`, key, problem));
    const value = asString(taint["value"]);
    causes.push(...labelValueProblems(value).map((problem) => invalidValue(`${at}.value`, value, problem)));
    if (effect === "") causes.push(required(`${at}.effect`));
    else if (!EFFECTS.includes(effect)) causes.push(notSupported(`${at}.effect`, effect, EFFECTS));
    if (seen.has(`${key}:${effect}`)) causes.push(duplicate(at, taint));
    seen.add(`${key}:${effect}`);
    return causes;
  });
}

function providerIdProblems(node: KubeObject, old: KubeObject | undefined): Cause[] {
  const before = asString(old && part(old, "spec")["providerID"]);
  if (before === "" || part(node, "spec")["providerID"] === before) return [];
  return [forbiddenField("spec.providerID", 'node updates may not change providerID except from "" to valid')];
}

const conditionStatus = (node: KubeObject, type: string): string => {
  const found = asArray(part(node, "status")["conditions"]).find((item) => asObject(item)["type"] === type);
  return asString(asObject(found)["status"]);
};

function statusCell(node: KubeObject): string {
  const ready = conditionStatus(node, "Ready");
  const word = ready === "True" ? "Ready" : ready === "" ? "Unknown" : "NotReady";
  return part(node, "spec")["unschedulable"] === true ? `${word},SchedulingDisabled` : word;
}

function rolesCell(node: KubeObject): string {
  const prefix = "node-role.kubernetes.io/";
  const roles = Object.entries(node.metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(prefix) && key.length > prefix.length) return [key.slice(prefix.length)];
    return key === "kubernetes.io/role" && value !== "" ? [value] : [];
  });
  return roles.length === 0 ? "<none>" : [...new Set(roles)].sort().join(",");
}

function addressCell(type: string): (node: KubeObject) => string {
  return (node) => {
    const addresses = asArray(part(node, "status")["addresses"]).map(asObject);
    return asString(addresses.find((address) => address["type"] === type)?.["address"]) || "<none>";
  };
}

function infoCell(field: string, absent = "<unknown>"): (node: KubeObject) => string {
  return (node) => asString(asObject(part(node, "status")["nodeInfo"])[field]) || absent;
}

export const node = defineKind({
  kind: "Node",
  plural: "nodes",
  shortNames: ["no"],
  namespaced: false,
  subresources: ["status"],
  selectableFields: ["spec.unschedulable"],
  fields: {
    spec: struct({
      podCIDR: text,
      podCIDRs: mergeSet(text),
      providerID: text,
      unschedulable: flag,
      taints: listOf(struct({ key: text, value: text, effect: text, timeAdded: time })),
      configSource: anyObject,
      externalID: text,
    }),
    status: struct({
      capacity: mapOf(anything),
      allocatable: mapOf(anything),
      phase: text,
      conditions: mergeList("type", condition),
      addresses: mergeList("type", struct({ type: text, address: text })),
      daemonEndpoints: anyObject,
      nodeInfo: anyObject,
      images: listOf(anyObject),
      volumesInUse: listOf(text),
      volumesAttached: listOf(anyObject),
      config: anyObject,
      runtimeHandlers: listOf(anyObject),
      features: anyObject,
    }),
  },
  columns: [
    nameColumn,
    column("Status", statusCell),
    column("Roles", rolesCell),
    ageColumn,
    column("Version", infoCell("kubeletVersion", "")),
    wide("Internal-IP", addressCell("InternalIP")),
    wide("External-IP", addressCell("ExternalIP")),
    wide("OS-Image", infoCell("osImage")),
    wide("Kernel-Version", infoCell("kernelVersion")),
    wide("Container-Runtime", infoCell("containerRuntimeVersion")),
  ],
  behaviour: {
    // A kubelet registers its node together with the status.
    prepareCreate: withNotReadyTaint,
    validate: (object, old) => [...taintProblems(object), ...providerIdProblems(object, old)],
  },
});
