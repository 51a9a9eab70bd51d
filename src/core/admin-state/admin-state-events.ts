/** The texts of admin-state events, on the Node and on the Services whose load balancer it is in. */
import { type EventText, eventText } from "../events/event-reasons.ts";
import type { DrainReason } from "./reconcile-admin-state.ts";

/** Load balancer and pool often have the same name, so each is named with its kind. */
export function poolText(loadBalancer: string, pool: string): string {
  return `load balancer ${loadBalancer}, pool ${pool}`;
}

/** A Service's event names at most this many nodes, and counts the rest. */
const MOST_NAMES = 5;

export function nodeStateEvent(
  state: "Down" | "None",
  reasons: readonly DrainReason[],
  pools: readonly string[],
): EventText {
  const where = `in ${pools.join(" and in ")}`;
  return state === "Down"
    ? eventText(
        "LoadBalancerAdminStateDown",
        `Gets no new connections from load balancers any more (${reasons.join(", ")}): admin state Down ${where}`,
      )
    : eventText(
        "LoadBalancerAdminStateNone",
        `May get new connections from load balancers again: admin state None ${where}`,
      );
}

export function serviceStateEvent(state: "Down" | "None", nodes: readonly string[]): EventText {
  const [who, are, get] =
    nodes.length === 1 ? [`Node ${names(nodes)}`, "is", "it gets"] : [`${nodes.length} nodes`, "are", "they get"];
  const which = nodes.length === 1 ? "" : ` (${names(nodes)})`;
  return state === "Down"
    ? eventText("BackendsDraining", `${who} ${are} going away: ${get} no new connections${which}`)
    : eventText("BackendsRestored", `${who} ${are} back: ${get} new connections again${which}`);
}

/** `pool` as in `poolText`. The last node of a pool is set Down like any other, since it is going away. */
export function poolDrainedEvent(pool: string): EventText {
  const message =
    `No node takes new connections in ${pool}: all are held Down, because they are out of service, ` +
    `about to be evicted or drained. Add nodes, or clear the taints of those that stay`;
  return eventText("NoEligibleBackend", message);
}

export function stateFailedEvent(state: "Down" | "None", pool: string, why: string): EventText {
  const left =
    state === "Down" ? "it keeps getting new connections until its probes fail" : "it stays without new ones";
  const message = `Admin state ${state} could not be set in ${pool}, so ${left}; will try again: ${why}`;
  return eventText("LoadBalancerAdminStateFailed", message);
}

export function nodeTaintedEvent(event: string): EventText {
  const message = `Is about to be evicted ("${event}"): tainted, so that load balancers send it no new connections`;
  return eventText("SpotEvictionTainted", message);
}

function names(nodes: readonly string[]): string {
  const named = nodes.slice(0, MOST_NAMES).join(", ");
  return nodes.length > MOST_NAMES ? `${named} and ${nodes.length - MOST_NAMES} more` : named;
}
