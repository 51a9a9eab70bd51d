/**
 * Deletes the content of terminating objects, and expired Events.
 *
 *   terminating namespace    | its objects are deleted; it is finalized once empty
 *   terminating definition   | its objects are deleted; its finalizer is removed once none is left
 *   Events                   | are deleted an hour after their last occurrence
 */
import type { HistoryEntry, KubeObject } from "../contract.ts";
import { CLEANUP_FINALIZER, definition } from "../kinds/definition.ts";
import { keyOf, objectAt, objectsIn } from "../state.ts";
import type { DelayQueue } from "./delay-queue.ts";
import { removeFinalizer } from "./garbage-collector.ts";
import type { LoopClient } from "./loop-client.ts";

const EVENTS_LIVE_MS = 3_600_000;
const EXPIRE_EVERY_MS = 60_000;

export function emptyNamespaces(
  client: LoopClient,
  queue: DelayQueue,
  { type, collection, object }: HistoryEntry,
): void {
  const { name, namespace, deletionTimestamp } = object.metadata;
  const terminating = collection === "namespaces" ? deletionTimestamp !== undefined : type === "DELETED";
  const affected = collection === "namespaces" ? name : namespace;
  if (terminating && affected !== undefined)
    queue.schedule(`empty/${affected}`, 0, () => emptyNamespace(client, affected));
}

export function emptyDefinitions(client: LoopClient, queue: DelayQueue, { collection, object }: HistoryEntry): void {
  const defined = collection === definition.collection ? (object.metadata.name ?? "") : collection;
  if (objectAt(client.state, definition.collection, defined)?.metadata.deletionTimestamp === undefined) return;
  queue.schedule(`undefine/${defined}`, 0, () => emptyDefinition(client, defined));
}

export function expireEvents(client: LoopClient, queue: DelayQueue, { collection }: HistoryEntry): void {
  if (collection === "events") scheduleExpiry(client, queue);
}

function emptyNamespace(client: LoopClient, name: string): void {
  const namespaceObject = client.get("namespaces", name);
  if (namespaceObject?.metadata.deletionTimestamp === undefined) return;
  const content = contentOf(client, name);
  for (const [collection, key] of content) client.remove(collection, key, { gracePeriodSeconds: 0 });
  if (contentOf(client, name).length === 0) client.update("namespaces", { ...namespaceObject, spec: {} }, "finalize");
}

function contentOf(client: LoopClient, namespace: string): [collection: string, key: string][] {
  const collections = [...client.state.collections.keys()];
  return collections.flatMap((collection) =>
    [...objectsIn(client.state, collection)]
      .filter((object) => object.metadata.namespace === namespace)
      .map((object): [string, string] => [collection, keyOf(object)]),
  );
}

function emptyDefinition(client: LoopClient, name: string): void {
  for (const object of client.all(name)) client.remove(name, keyOf(object));
  const found = client.get(definition.collection, name);
  if (found === undefined || client.all(name).length > 0) return;
  removeFinalizer(client, definition.collection, found, CLEANUP_FINALIZER);
}

function scheduleExpiry(client: LoopClient, queue: DelayQueue): void {
  queue.schedule("expire-events", client.nowMs + EXPIRE_EVERY_MS, () => {
    const events = client.all("events");
    const old = events.filter((event) => lastWritten(event) < client.nowMs - EVENTS_LIVE_MS);
    for (const event of old) client.remove("events", keyOf(event));
    if (events.length > old.length) scheduleExpiry(client, queue);
  });
}

/** The latest timestamp in an Event. */
function lastWritten(event: KubeObject): number {
  const times = [event.metadata.creationTimestamp, event["lastTimestamp"], event["eventTime"]];
  const series = (event["series"] as { lastObservedTime?: string } | undefined)?.lastObservedTime;
  return Math.max(...[...times, series].map((time) => (typeof time === "string" ? Date.parse(time) : 0)));
}
