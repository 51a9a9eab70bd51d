/**
 * Which `PreemptScheduled` events really announce that a node is going, and which are news. One store holds the events
 * of core/v1 and events.k8s.io; they are read here in their core/v1 form.
 *
 *   event                                                        | counts
 *   -------------------------------------------------------------|--------------------------------------------------
 *   about another kind, or another reason                        | no
 *   in a namespace where no reporter of Node events is trusted   | no: a tenant can create Events in its own namespace
 *   claims to have been seen in the future                       | as one that was last seen when it was created
 *   message does not begin with `Preempt Scheduled` or `Started` | no: emitters report their own troubles that way
 *   last seen before the Node was created                        | no: names are reused, events live for an hour
 *   noted on the Node, or begun no later than the noted one      | no: acted upon already
 *   any other                                                    | yes
 *
 * Nodes are matched by name: real emitters put the name into `involvedObject.uid`. An Event's own times are claims of its
 * creator; only `creationTimestamp` is the API server's, so an Event never begins later than it was created.
 */
import type { Node } from "../model/kubernetes.ts";
import { noteOf } from "./preemption-note.ts";

export const PREEMPT_SCHEDULED = "PreemptScheduled";
const ANNOUNCEMENT = /^Preempt (Scheduled|Started)\b/;

/** What decisions read of an event. */
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

/** A core/v1 Event as it comes; anything may be missing. */
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

/** Whose events count, and what time it is. */
export interface EventTrust {
  readonly namespaces: readonly string[];
  readonly nowMs: number;
}

/** Clocks of machines differ a little. */
const CLOCK_SKEW_MS = 5 * 60_000;

/** The newest event that the node has not been marked for yet. */
export function newestPreemption(
  node: Node,
  events: readonly PreemptionEvent[],
  trust: EventTrust,
): PreemptionEvent | undefined {
  return events
    .filter(({ namespace }) => trust.namespaces.includes(namespace))
    .filter((event) => isAnnouncement(event, node, trust.nowMs) && isNews(event, node))
    .sort((one, other) => other.firstMs - one.firstMs || (one.uid < other.uid ? -1 : 1))[0];
}

function isAnnouncement(event: PreemptionEvent, node: Node, nowMs: number): boolean {
  const { node: about, message, createdMs, lastMs } = event;
  const seenMs = lastMs > nowMs + CLOCK_SKEW_MS ? createdMs : lastMs;
  return (
    about === node.metadata.name && ANNOUNCEMENT.test(message) && seenMs >= firstTime(node.metadata.creationTimestamp)
  );
}

/** Repetitions raise the count of the same event, so only a later beginning is another announcement. */
function isNews({ uid, firstMs }: PreemptionEvent, node: Node): boolean {
  const note = noteOf(node);
  return note === undefined || (uid !== note.eventUID && firstMs > note.firstMs);
}

/** The first of the times that is one. */
function firstTime(...times: readonly (string | null | undefined)[]): number {
  for (const time of times) {
    const ms = Date.parse(time ?? "");
    if (!Number.isNaN(ms)) return ms;
  }
  return 0;
}
