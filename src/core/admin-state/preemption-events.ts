/**
 * Which `PreemptScheduled` and `TerminateScheduled` events announce that a node is going away, and which of them are new. The API server keeps
 * events of core/v1 and events.k8s.io in one store; they are read here in their core/v1 form.
 *
 *   event                                                        | counts
 *   -------------------------------------------------------------|--------------------------------------------------
 *   about another kind, or another reason                        | no
 *   in a namespace where no reporter of Node events is trusted   | no: a tenant can create Events in its own namespace
 *   claims to have been seen in the future                       | as one that was last seen when it was created
 *   message does not begin with `Preempt` or `Terminate`, and    | no: emitters report their own failures so
 *     then `Scheduled` or `Started`                              |
 *   last seen before the Node was created                        | no: names are reused, events live for an hour
 *   recorded on the Node, or not begun after the recorded one    | no: handled already
 *   any other                                                    | yes
 *
 * Nodes are matched by name: real emitters put the name into `involvedObject.uid`. An Event's own times are claims of its
 * creator; only `creationTimestamp` is the API server's, so an Event never begins later than it was created.
 */
import type { Node } from "../model/kubernetes.ts";
import { readPreemptionAnnotation } from "./preemption-annotation.ts";

/** Reasons of the Events that announce the end of a machine: a Spot eviction, and a deletion that was asked for. */
export const NOTICE_REASONS = ["PreemptScheduled", "TerminateScheduled"] as const;
const ANNOUNCEMENT = /^(Preempt|Terminate) (Scheduled|Started)\b/;

/** The fields of an event that decisions read. */
export interface PreemptionEvent {
  readonly uid: string;
  readonly namespace: string;
  /** Name of the object that it is about; empty where that is no Node. */
  readonly node: string;
  readonly message: string;
  /** When the API server stored it; 0 where that is not known. */
  readonly createdMs: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** A core/v1 Event as received; any field may be missing. */
export interface RawEvent {
  readonly metadata: { readonly uid: string; readonly namespace?: string; readonly creationTimestamp?: string };
  readonly involvedObject?: { readonly kind?: string; readonly name?: string };
  readonly message?: string;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly series?: { readonly lastObservedTime?: string | null } | null;
}

export function parsePreemptionEvent(event: RawEvent): PreemptionEvent {
  const { metadata, involvedObject, message = "", firstTimestamp, lastTimestamp, eventTime, series } = event;
  const created = metadata.creationTimestamp;
  const createdMs = firstTime(created);
  return {
    uid: metadata.uid,
    namespace: metadata.namespace ?? "",
    node: involvedObject?.kind === "Node" ? (involvedObject.name ?? "") : "",
    message,
    createdMs,
    firstMs: Math.min(firstTime(firstTimestamp, eventTime, created), createdMs || Number.POSITIVE_INFINITY),
    lastMs: firstTime(series?.lastObservedTime, lastTimestamp, eventTime, firstTimestamp, created),
  };
}

/** The namespaces whose events are trusted, and the current time. */
export interface EventTrust {
  readonly namespaces: readonly string[];
  readonly nowMs: number;
}

/** Allowed difference between the reporter's clock and the controller's. */
const CLOCK_SKEW_MS = 5 * 60_000;

/** The newest event that is not recorded on the node yet. */
export function newestPreemption(
  node: Node,
  events: readonly PreemptionEvent[],
  trust: EventTrust,
): PreemptionEvent | undefined {
  return announcementsOf(node, events, trust)
    .filter((event) => isNews(event, node))
    .sort((one, other) => other.firstMs - one.firstMs || (one.uid < other.uid ? -1 : 1))[0];
}

/** Those that count for the node, recorded or not. */
export function announcementsOf(
  node: Node,
  events: readonly PreemptionEvent[],
  { namespaces, nowMs }: EventTrust,
): PreemptionEvent[] {
  return events.filter((event) => namespaces.includes(event.namespace) && isAnnouncement(event, node, nowMs));
}

function isAnnouncement(event: PreemptionEvent, node: Node, nowMs: number): boolean {
  const { node: about, message, createdMs, lastMs } = event;
  const seenMs = lastMs > nowMs + CLOCK_SKEW_MS ? createdMs : lastMs;
  return (
    about === node.metadata.name && ANNOUNCEMENT.test(message) && seenMs >= firstTime(node.metadata.creationTimestamp)
  );
}

/** A repetition raises the count of the same event, so only one with a later beginning is another announcement. */
function isNews({ uid, firstMs }: PreemptionEvent, node: Node): boolean {
  const handled = readPreemptionAnnotation(node);
  return handled === undefined || (uid !== handled.eventUID && firstMs > handled.firstMs);
}

/** The first valid timestamp; 0 where there is none. */
function firstTime(...times: readonly (string | null | undefined)[]): number {
  for (const time of times) {
    const ms = Date.parse(time ?? "");
    if (!Number.isNaN(ms)) return ms;
  }
  return 0;
}
