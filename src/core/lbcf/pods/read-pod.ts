/** A pod as the API server sends it: only what decides whether and where it is registered. */
import { REGISTERED_GATE } from "../objects/names.ts";
import type { Pod } from "../objects/objects.ts";
import { listOf, objectOf, optional, rawMetaOf, textOf } from "../objects/read-json.ts";
import { type Stored, parts, conditionsOf } from "../objects/read-common.ts";

export function readPod(object: Stored): Pod {
  const { metadata, spec, status } = parts(object);
  const conditions = conditionsOf(status);
  const statusOf = (type: string): boolean => conditions.some((each) => each.type === type && each.status === "True");
  const gates = listOf(spec["readinessGates"]).map((gate) => textOf(objectOf(gate)["conditionType"]));
  return {
    metadata: rawMetaOf(metadata),
    ...optional("nodeName", textOf(spec["nodeName"]) || undefined),
    ...optional("ip", textOf(status["podIP"]) || undefined),
    phase: textOf(status["phase"]),
    ready: statusOf("Ready"),
    containersReady: statusOf("ContainersReady"),
    ...(gates.includes(REGISTERED_GATE) && { gate: statusOf(REGISTERED_GATE) ? "True" : "False" }),
  };
}
