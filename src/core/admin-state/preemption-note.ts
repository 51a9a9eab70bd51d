/**
 * The note on a Node that says which `PreemptScheduled` event it was tainted for. It is written by the same patch as the
 * taint, so that nothing is half done; it outlives the taint, so that an event which somebody has answered by clearing
 * the taint is not acted upon again, not even by a process that starts later. A Node that is made anew has none.
 */
import type { Node, Taint } from "../model/kubernetes.ts";
import { DRAINING_TAINT, isDraining, SPOT_EVICTION } from "./desired-admin-state.ts";
import type { PreemptionEvent } from "./preemption-events.ts";

export const PREEMPTION_ANNOTATION = "azlb.io/preempt-scheduled";

export interface PreemptionNote {
  readonly eventUID: string;
  /** When the event was first seen. */
  readonly firstMs: number;
}

/** `undefined` where there is none, or none that can be read. */
export function noteOf(node: Node): PreemptionNote | undefined {
  const text = node.metadata.annotations?.[PREEMPTION_ANNOTATION];
  if (text === undefined) return undefined;
  const [, eventUID, time = ""] = /^(\S+) at (\S+)$/.exec(text) ?? [];
  const firstMs = Date.parse(time);
  return eventUID === undefined || Number.isNaN(firstMs) ? undefined : { eventUID, firstMs };
}

export interface NodePatch {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  /** Absent where the taint is there already. A patch replaces the list as a whole. */
  readonly spec?: { readonly taints: readonly Taint[] };
}

/** `NoSchedule`: evicting pods is not our business. */
export function preemptionPatch(node: Node, { uid, firstMs }: PreemptionEvent): NodePatch {
  const taints = node.spec.taints ?? [];
  const metadata = { annotations: { [PREEMPTION_ANNOTATION]: `${uid} at ${new Date(firstMs).toISOString()}` } };
  if (taints.some((taint) => taint.key === DRAINING_TAINT && isDraining(taint))) return { metadata };
  const taint: Taint = { key: DRAINING_TAINT, value: SPOT_EVICTION, effect: "NoSchedule" };
  // Kubernetes takes one taint of a key and effect
  const others = taints.filter(({ key, effect }) => key !== taint.key || effect !== taint.effect);
  return { metadata, spec: { taints: [...others, taint] } };
}
