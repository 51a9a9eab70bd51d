/**
 * The readiness gate `lbcf.tkestack.io/registered`: with it in the pod template, a rollout waits for the load balancer.
 * The gate opens when every record of the pod is registered at the pod's current address, and stays open: a driver that
 * fails later must not remove a serving pod from its Services. Only a new address closes it.
 */
import type { BackendRecord, Pod } from "../objects/objects.ts";
import { isLive, isRegistered } from "../records/reconcile-backend-record.ts";
import { pluralize } from "../../util/text.ts";

export interface ObservedGate {
  readonly pod: Pod;
  /** The records of this pod (same uid). */
  readonly records: readonly BackendRecord[];
  /** The number of records that the groups selecting the pod want; `undefined` when no group selects it. Looks at all groups. */
  readonly wanted: () => number | undefined;
}

export interface GateDecision {
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

/** `undefined` when the pod has no such gate, or its condition is right. */
export function reconcileReadinessGate({ pod, records, wanted: wantedOf }: ObservedGate): GateDecision | undefined {
  if (pod.gate === undefined || pod.metadata.deletionTimestamp !== undefined) return undefined;
  const live = records.filter(isLive);
  if (pod.gate === "True") {
    const hasMoved = live.some(({ status }) => status.generatedFrom !== undefined && status.generatedFrom !== pod.ip);
    return hasMoved ? CLOSED : undefined;
  }
  const isCurrent = live.every((record) => isRegistered(record) && record.status.generatedFrom === pod.ip);
  if (!isCurrent || live.length === 0) return undefined;
  const wanted = wantedOf() ?? 0;
  return wanted > 0 && live.length >= wanted ? open(live.length) : undefined;
}

const CLOSED: GateDecision = {
  status: "False",
  reason: "AddressChanged",
  message: "its new address is not registered yet",
};

function open(records: number): GateDecision {
  return { status: "True", reason: "Registered", message: `registered by ${pluralize(records, "backend record")}` };
}
