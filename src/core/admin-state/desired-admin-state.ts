/**
 * The admin state that a node's backend address must carry: the one source for every path that writes one.
 *
 *   taints on the node                                              | state | why
 *   ----------------------------------------------------------------|-------|-----------------------------------------
 *   none of ours                                                    | None  | the health probe decides
 *   node.kubernetes.io/out-of-service, whatever its value           | Down  | it is gone; do not wait for probes
 *   cloudprovider.azure.microsoft.com/draining=spot-eviction        | Down  | it is going; do not wait for probes
 *
 * Cordons and other taints don't count: they come and go, and mean "no new pods", not "no traffic".
 */
import type { Node, Taint } from "../model/kubernetes.ts";

export const OUT_OF_SERVICE_TAINT = "node.kubernetes.io/out-of-service";
export const DRAINING_TAINT = "cloudprovider.azure.microsoft.com/draining";
export const SPOT_EVICTION = "spot-eviction";

export function desiredAdminState(node: Node): "Down" | "None" {
  return (node.spec.taints ?? []).some(isDraining) ? "Down" : "None";
}

export type DrainReason = "out-of-service" | "spot-eviction";

/** Why the node is held Down; empty where it is not. */
export function drainReasons(node: Node): DrainReason[] {
  const keys = new Set((node.spec.taints ?? []).filter(isDraining).map(({ key }) => key));
  return [
    ...(keys.has(OUT_OF_SERVICE_TAINT) ? (["out-of-service"] as const) : []),
    ...(keys.has(DRAINING_TAINT) ? ([SPOT_EVICTION] as const) : []),
  ];
}

export function isDraining({ key, value }: Taint): boolean {
  return key === OUT_OF_SERVICE_TAINT || (key === DRAINING_TAINT && value === SPOT_EVICTION);
}
