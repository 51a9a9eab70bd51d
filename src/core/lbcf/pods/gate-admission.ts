/**
 * What the readiness gate's webhook answers to the API server: a new pod that a BackendGroup or a Bind of its namespace selects gets
 * the gate, unless it has it; everything else is admitted as it is. Nothing is ever refused. `deploy/readiness-gate.yaml` says the
 * same as a policy, for API servers that have such policies.
 */
import { REGISTERED_GATE } from "../objects/names.ts";
import type { BackendGroup } from "../objects/objects.ts";
import { isGiven, listOf, objectOf, textOf, type Json } from "../objects/read-json.ts";
import { isSelected } from "./pods.ts";
import { readPod } from "./read-pod.ts";

/** The part of an AdmissionReview's request that decides. */
export interface PodAdmission {
  readonly uid: string;
  readonly namespace: string;
  /** As it was sent: without a name where one is to be made up. */
  readonly pod: Json;
}

/** `undefined`: this is no review of a new pod. */
export function readPodAdmission(review: unknown): PodAdmission | undefined {
  const request = objectOf(objectOf(review)["request"]);
  const uid = textOf(request["uid"]);
  const { kind } = objectOf(request["kind"]);
  if (uid === "" || kind !== "Pod" || request["operation"] !== "CREATE" || !isGiven(request["object"]))
    return undefined;
  return { uid, namespace: textOf(request["namespace"]), pod: objectOf(request["object"]) };
}

/** A JSON patch; `undefined`: as it is. */
export function gatePatch(pod: Json, groups: readonly BackendGroup[]): readonly object[] | undefined {
  const read = readPod({ ...pod, metadata: objectOf(pod["metadata"]) });
  if (read.gate !== undefined || !groups.some((group) => selects(group, read))) return undefined;
  const gate = { conditionType: REGISTERED_GATE };
  const gates = listOf(objectOf(pod["spec"])["readinessGates"]);
  if (gates.length === 0) return [{ op: "add", path: "/spec/readinessGates", value: [gate] }];
  return [{ op: "add", path: "/spec/readinessGates/-", value: gate }];
}

function selects({ metadata, spec: { backends } }: BackendGroup, pod: ReturnType<typeof readPod>): boolean {
  return backends.kind === "Pod" && metadata.deletionTimestamp === undefined && isSelected(pod, backends.select);
}

/** The AdmissionReview that goes back. */
export function admitted(uid: string, patch: readonly object[] | undefined, encode: (text: string) => string): object {
  const patched = patch && { patchType: "JSONPatch", patch: encode(JSON.stringify(patch)) };
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid, allowed: true, ...patched },
  };
}
