/**
 * Which `PreemptScheduled` events really announce that a node is going, and which are news. One store holds the events
 * of core/v1 and events.k8s.io; they are read here in their core/v1 form.
 *
 *   event                                                        | counts
 *   -------------------------------------------------------------|--------------------------------------------------
 *   about another kind, or another reason                        | no
 *   message does not begin with `Preempt Scheduled` or `Started` | no: emitters report their own troubles that way
 *   last seen before the Node was created                        | no: names are reused, events live for an hour
 *   noted on the Node, or begun no later than the noted one      | no: acted upon already
 *   any other                                                    | yes
 *
 * Nodes are matched by name: real emitters put the name into `involvedObject.uid`.
 */
import type { Node } from "../model/kubernetes.ts";
import { noteOf } from "./preemption-note.ts";

export const PREEMPT_SCHEDULED = "PreemptScheduled";
const ANNOUNCEMENT = /^Preempt (Scheduled|Started)\b/;

/** What decisions read of an event. */
export interface PreemptionEvent {
  readonly uid: string;
  /** Name of the object that it is about; empty where that is no Node. */
  readonly node: string;
  readonly message: string;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** A core/v1 Event as it comes; anything may be missing. */
export interface RawEvent {
  readonly metadata: { readonly uid: string; readonly creationTimestamp?: string };
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
  return {
    uid: metadata.uid,
    node: involvedObject?.kind === "Node" ? (involvedObject.name ?? "") : "",
    message,
    firstMs: firstTime(firstTimestamp, eventTime, created),
    lastMs: firstTime(series?.lastObservedTime, lastTimestamp, eventTime, firstTimestamp, created),
  };
}

/** The newest event that the node has not been marked for yet. */
export function newestPreemption(node: Node, events: readonly PreemptionEvent[]): PreemptionEvent | undefined {
  return events
    .filter((event) => isAnnouncement(event, node) && isNews(event, node))
    .sort((one, other) => other.firstMs - one.firstMs || (one.uid < other.uid ? -1 : 1))[0];
}

function isAnnouncement({ node: about, message, lastMs }: PreemptionEvent, node: Node): boolean {
  const createdMs = firstTime(node.metadata.creationTimestamp);
  return about === node.metadata.name && ANNOUNCEMENT.test(message) && !(lastMs < createdMs);
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
