/**
 * The readiness gate `lbcf.tkestack.io/registered`: users write it in their pod template, and a rollout then waits for
 * the load balancer. It opens when every record of the pod is registered at the address that the pod has now, and it
 * stays open: a driver that fails later must not take a serving pod out of its Services. Only a new address closes it.
 */
import type { BackendRecord, Pod } from "../objects/objects.ts";
import { isLive, isRegistered } from "../records/reconcile-backend-record.ts";
import { pluralize } from "../../util/text.ts";

export interface GateWorld {
  readonly pod: Pod;
  /** The records of this very pod. */
  readonly records: readonly BackendRecord[];
  /** How many records the groups that select it want; `undefined`: no group does. */
  readonly wanted: number | undefined;
}

export interface GateDecision {
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

/** `undefined`: the pod has no such gate, or it is right. */
export function reconcileReadinessGate({ pod, records, wanted }: GateWorld): GateDecision | undefined {
  if (pod.gate === undefined || pod.metadata.deletionTimestamp !== undefined) return undefined;
  const live = records.filter(isLive);
  const current = live.filter((record) => isRegistered(record) && record.status.generatedFrom === pod.ip);
  const isComplete = wanted !== undefined && wanted > 0 && live.length >= wanted && current.length === live.length;
  if (isComplete) return pod.gate === "True" ? undefined : open(current.length);
  const hasMoved = live.some(({ status }) => status.generatedFrom !== undefined && status.generatedFrom !== pod.ip);
  if (pod.gate === "False" || !hasMoved) return undefined;
  return { status: "False", reason: "AddressChanged", message: "its new address is not registered yet" };
}

function open(records: number): GateDecision {
  return { status: "True", reason: "Registered", message: `registered by ${pluralize(records, "backend record")}` };
}
