/**
 * Evictions that ended while no controller ran: the Node had gone when one started, and with it the annotation that says how its
 * drain went. What is left are Events about it. Pure.
 *
 *   Events about the Node, besides the notice                       | the eviction
 *   ----------------------------------------------------------------|---------------------------------------------------
 *   `EvictionDrained` or `EvictionDrainedLate`, since the notice    | is accounted for
 *   `ScheduledEventOver`, with the notice's `EventId`               | was cancelled
 *   none of these                                                   | was missed, as far as is known
 */
import type { Node } from "../model/kubernetes.ts";
import { type EvictionNotice, evictionNotice } from "./drain-account.ts";
import { type EventTrust, parsePreemptionEvent, type PreemptionEvent, type RawEvent } from "./preemption-events.ts";

/** Reasons of the Events that say what became of an eviction. */
export const END_REASONS = ["EvictionDrained", "EvictionDrainedLate", "ScheduledEventOver"] as const;

export interface EndEvent extends RawEvent {
  readonly reason?: string;
}

/** A Node of which nothing is known but its name; Events name it so, too. */
export function goneNode(name: string): Node {
  return { metadata: { name, uid: name }, spec: {}, status: {} };
}

/** `undefined`: the eviction of the Node that has gone was not missed, or its notice does not say when it was due. */
export function missedEviction(
  node: Node,
  notices: readonly PreemptionEvent[],
  ends: readonly EndEvent[],
  trust: EventTrust,
): EvictionNotice | undefined {
  const notice = evictionNotice(node, notices, trust);
  if (notice === undefined) return undefined;
  const ids = new Set(notices.flatMap(({ message }) => eventIdOf(message) ?? []));
  const isEnd = ({ reason, message = "", ...event }: EndEvent): boolean => {
    const { node: about, lastMs } = parsePreemptionEvent(event);
    if (about !== node.metadata.name) return false;
    // times of Events have no fractions of seconds
    return reason === "ScheduledEventOver" ? ids.has(eventIdOf(message) ?? "") : lastMs >= notice.announcedMs - 1_000;
  };
  return ends.some(isEnd) ? undefined : notice;
}

function eventIdOf(message: string): string | undefined {
  return /\bEventId: (\S+)/.exec(message)?.[1];
}
