/**
 * The annotation on a Node that records the event it was tainted for, `PreemptScheduled` or `TerminateScheduled`. It is written by the same patch
 * as the taint, so that neither exists without the other; it outlives the taint, so that an event is not handled again
 * after a user has removed the taint, not even by a process that starts later. A recreated Node has no annotation.
 */
import type { Node, Taint } from "../model/kubernetes.ts";
import { DRAIN_TAINT, DRAINING_TAINT, isDraining, SPOT_EVICTION, TERMINATE } from "./reconcile-admin-state.ts";
import type { PreemptionEvent } from "./preemption-events.ts";

export const PREEMPTION_ANNOTATION = "azlb.io/preempt-scheduled";

interface HandledPreemption {
  readonly eventUID: string;
  /** When the event was first seen. */
  readonly firstMs: number;
}

/** `undefined` where the annotation is missing or malformed. */
export function readPreemptionAnnotation(node: Node): HandledPreemption | undefined {
  const text = node.metadata.annotations?.[PREEMPTION_ANNOTATION];
  if (text === undefined) return undefined;
  const [, eventUID, time = ""] = /^(\S+) at (\S+)$/.exec(text) ?? [];
  const firstMs = Date.parse(time);
  return eventUID === undefined || Number.isNaN(firstMs) ? undefined : { eventUID, firstMs };
}

/** The machine is deleted because a client asked for it: a scale-in. */
export function isTermination(message: string): boolean {
  return message.startsWith("Terminate ");
}

interface NodePatch {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  /** Absent where the taint exists already. A merge patch replaces the list as a whole. */
  readonly spec?: { readonly taints: readonly Taint[] };
}

/** The taint is `NoSchedule`: evicting pods is left to other controllers. */
export function preemptionPatch(node: Node, { uid, firstMs, message }: PreemptionEvent): NodePatch {
  const taints = node.spec.taints ?? [];
  const metadata = { annotations: { [PREEMPTION_ANNOTATION]: `${uid} at ${new Date(firstMs).toISOString()}` } };
  const [key, value] = isTermination(message) ? [DRAIN_TAINT, TERMINATE] : [DRAINING_TAINT, SPOT_EVICTION];
  if (taints.some((taint) => taint.key === key && isDraining(taint))) return { metadata };
  const taint: Taint = { key, value, effect: "NoSchedule" };
  // Kubernetes allows one taint per key and effect
  const others = taints.filter((other) => other.key !== taint.key || other.effect !== taint.effect);
  return { metadata, spec: { taints: [...others, taint] } };
}
