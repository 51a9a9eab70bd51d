/**
 * The admin state of backend addresses: what a node's taints ask for, and what that makes of a pool entry. The only
 * source for it: every writer of pool entries calls these functions.
 *
 *   taints on the node                                              | state | reason
 *   ----------------------------------------------------------------|-------|-----------------------------------------
 *   none of these                                                   | None  | the health probe decides
 *   node.kubernetes.io/out-of-service, with any value               | Down  | the node is gone; do not wait for probes
 *   cloudprovider.azure.microsoft.com/draining=spot-eviction        | Down  | it is going; do not wait for probes
 *
 * Cordons and other taints don't count: they mean "no new pods", not "no traffic".
 */
import type { AdminState, BackendAddress } from "../model/arm.ts";
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

/**
 * The entry with the admin state that it should have; the entry itself where it has that already.
 *
 *   desired   | entry has | becomes
 *   ----------|-----------|------------------------------------------------------------------
 *   Down      | anything  | Down
 *   None      | Down      | None: the controller set it, or it is left over from an earlier one
 *   None      | Up, None  | unchanged: an Up was set by a user
 *   undefined | anything  | unchanged: not an entry of a known node
 */
export function correctAdminState(entry: BackendAddress, desired: AdminState | undefined): BackendAddress {
  const current = adminStateOf(entry);
  const isRight = desired === undefined || (desired === "Down" ? current === "Down" : current !== "Down");
  return isRight ? entry : { ...entry, properties: { ...entry.properties, adminState: desired } };
}

/** Azure does not echo `None`. */
export function adminStateOf(entry: BackendAddress): AdminState {
  switch ((entry.properties.adminState ?? "").toLowerCase()) {
    case "up":
      return "Up";
    case "down":
      return "Down";
    default:
      return "None";
  }
}
