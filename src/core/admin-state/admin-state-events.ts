/** The texts of admin-state events, on the Node and on the Services whose load balancer it is in. */
import { type EventText, eventText } from "../events/event-reasons.ts";
import { type DrainAccount, type EvictionNotice, noticeLeft } from "./drain-account.ts";
import { isTermination } from "./preemption-annotation.ts";
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
  const consequence = `("${event}"): tainted, so that load balancers send it no new connections`;
  return isTermination(event)
    ? eventText("TerminationTainted", `Is about to be deleted ${consequence}`)
    : eventText("SpotEvictionTainted", `Is about to be evicted ${consequence}`);
}

/** Of an eviction whose notice is known, once Down is in effect in every pool. */
export function evictionEvent(account: DrainAccount): EventText | undefined {
  const { notice, seenMs, downMs, pools } = account;
  const left = noticeLeft(account);
  if (notice === undefined || left === undefined) return undefined;
  const after = (ms: number): string => `${seconds(Math.max(0, ms - notice.announcedMs) / 1000)} later`;
  const where = pools.length === 1 ? "in its pool" : `in all ${pools.length} pools`;
  const course = `announced at ${time(notice.announcedMs)}, known to the controller ${after(seenMs)}, Down in effect ${where} ${after(downMs)}`;
  const due = `its eviction was due (${time(notice.dueMs)})`;
  return left >= 0
    ? eventText("EvictionDrained", `Got no new connections from ${seconds(left)} before ${due}: ${course}`)
    : eventText("EvictionDrainedLate", `Got new connections until ${seconds(-left)} after ${due}: ${course}`);
}

/** Of a Node that was deleted before Down was in effect, or not known to be; `how`: what the controller has seen of that. */
export function evictedLateEvent(
  { announcedMs, dueMs }: EvictionNotice,
  how: "removed" | "found gone",
  atMs: number,
): EventText {
  const when = `${seconds(Math.abs(atMs - dueMs) / 1000)} ${atMs < dueMs ? "before" : "after"} that`;
  const end = how === "removed" ? "removed before Down was in effect" : "found gone, not known to have been Down";
  const message = `Its eviction was announced at ${time(announcedMs)} and due at ${time(dueMs)}: it was ${end}, ${when}`;
  return eventText("EvictionDrainedLate", message);
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}

function seconds(count: number): string {
  return `${Math.round(count * 10) / 10} s`;
}

function names(nodes: readonly string[]): string {
  const named = nodes.slice(0, MOST_NAMES).join(", ");
  return nodes.length > MOST_NAMES ? `${named} and ${nodes.length - MOST_NAMES} more` : named;
}
