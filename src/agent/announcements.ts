/**
 * The Events with which the agent tells the cluster of Scheduled Events, worded as node problem detector words them on AKS,
 * so that whatever reads those reads these. Pure. The name of an Event follows from what it says: written again, after a
 * restart or by another process on the node, it is the same Event.
 */
import { createHash } from "node:crypto";

import type { EventReason } from "../core/events/event-reasons.ts";
import type { NewObject } from "../kube/client/kube-client.ts";
import type { ScheduledEvent } from "./scheduled-events.ts";

/** Where Kubernetes has the Events of Nodes. */
const NAMESPACE = "default";
const COMPONENT = "azlb-agent";

/** `atMs`: when the agent saw it. */
export function announcementOf(event: ScheduledEvent, node: string, atMs: number): NewObject {
  const { id, type, status, notBefore, durationSeconds } = event;
  const when = notBefore === "" ? "" : `: ${notBefore}`;
  const message = `${type} ${status}${when}. DurationInSeconds: ${durationSeconds}. EventId: ${id}`;
  return eventOf({ node, atMs, type: "Warning", reason: `${type}Scheduled`, message, key: `${id} ${status}` });
}

/** The event is not announced any more: it was carried out, or cancelled. */
export function overOf({ id, type }: ScheduledEvent, node: string, atMs: number): NewObject {
  const message = `${type} is over or was cancelled. EventId: ${id}`;
  return eventOf({ node, atMs, type: "Normal", reason: "ScheduledEventOver", message, key: `${id} over` });
}

interface Said {
  readonly node: string;
  readonly atMs: number;
  readonly type: "Normal" | "Warning";
  readonly reason: EventReason;
  readonly message: string;
  readonly key: string;
}

function eventOf({ node, atMs, type, reason, message, key }: Said): NewObject {
  const time = `${new Date(atMs).toISOString().slice(0, 19)}Z`;
  const hash = createHash("sha256").update(`${reason} ${key}`).digest("hex").slice(0, 16);
  return {
    metadata: { namespace: NAMESPACE, name: `${node.slice(0, 230)}.${hash}` },
    // the name for the UID, as the kubelet and node problem detector have it
    involvedObject: { kind: "Node", name: node, uid: node },
    type,
    reason,
    message,
    source: { component: COMPONENT, host: node },
    reportingComponent: COMPONENT,
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
}
