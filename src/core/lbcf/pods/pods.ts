/**
 * Which pods a group selects, when a pod may be registered, and when a registered pod may stay.
 *
 *   pod                                         | new record | existing record stays under
 *   --------------------------------------------|------------|---------------------------------------------
 *   ready, with an address                      | yes        | any policy
 *   has the readiness gate, containers ready    | yes        | any policy
 *   not ready, phase Running, with an address   | no         | IfNotRunning; Webhook, if the driver says so
 *   not ready otherwise                         | no         | Webhook, if the driver says so
 *   terminating, or gone                        | no         | none
 *
 * A pod with the readiness gate `lbcf.tkestack.io/registered` becomes Ready only after it is registered, so its
 * containers' readiness decides.
 */
import type { KeepPolicy, Pod, PodSelection } from "../objects/objects.ts";

export function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined;
}

export function isAvailable(pod: Pod): boolean {
  const isReady = pod.gate === undefined ? pod.ready : pod.containersReady;
  return isReady && pod.ip !== undefined && !isTerminating(pod);
}

/** Applies to pods that are not available. */
export function mayStay(pod: Pod, policy: KeepPolicy): boolean {
  return policy === "IfNotRunning" && !isTerminating(pod) && pod.phase === "Running" && pod.ip !== undefined;
}

/** A selector without labels selects no pod, rather than all of them. */
export function isSelected({ metadata: { name, labels = {} } }: Pod, select: PodSelection): boolean {
  if ("names" in select) return select.names.includes(name);
  const selector = Object.keys(select.labels);
  return selector.length > 0 && matches(labels, select.labels) && !select.except.includes(name);
}

export function matches(labels: Readonly<Record<string, string>>, selector: Readonly<Record<string, string>>): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

/** When a terminating pod's grace period ends: its deletion timestamp is that time. */
export function graceEndMs({ metadata: { deletionTimestamp } }: Pod): number {
  return Date.parse(deletionTimestamp ?? "") || 0;
}
