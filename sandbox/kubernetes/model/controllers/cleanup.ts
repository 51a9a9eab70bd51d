/**
 * Deletions that take their content along, and what time takes away.
 *
 *   a namespace that goes    | everything in it is deleted; it goes when it is empty
 *   a definition that goes   | its objects are deleted; it goes when they are gone
 *   events                   | live for an hour after they last happened
 */
import type { HistoryEntry, KubeObject } from "../contract.ts";
import { CLEANUP_FINALIZER, definition } from "../kinds/definition.ts";
import { keyOf, objectAt, objectsIn } from "../state.ts";
import type { Agenda } from "./agenda.ts";
import { release } from "./garbage-collector.ts";
import type { Inside } from "./inside.ts";

const EVENTS_LIVE_MS = 3_600_000;
const EXPIRE_EVERY_MS = 60_000;

export function emptyNamespaces(inside: Inside, agenda: Agenda, { type, collection, object }: HistoryEntry): void {
  const { name, namespace, deletionTimestamp } = object.metadata;
  const goes = collection === "namespaces" ? deletionTimestamp !== undefined : type === "DELETED";
  const space = collection === "namespaces" ? name : namespace;
  if (goes && space !== undefined) agenda.plan(`empty/${space}`, 0, () => emptyNamespace(inside, space));
}

export function emptyDefinitions(inside: Inside, agenda: Agenda, { collection, object }: HistoryEntry): void {
  const defined = collection === definition.collection ? (object.metadata.name ?? "") : collection;
  if (objectAt(inside.state, definition.collection, defined)?.metadata.deletionTimestamp === undefined) return;
  agenda.plan(`undefine/${defined}`, 0, () => emptyDefinition(inside, defined));
}

export function expireEvents(inside: Inside, agenda: Agenda, { collection }: HistoryEntry): void {
  if (collection === "events") planExpiry(inside, agenda);
}

function emptyNamespace(inside: Inside, name: string): void {
  const space = inside.get("namespaces", name);
  if (space?.metadata.deletionTimestamp === undefined) return;
  const content = contentOf(inside, name);
  for (const [collection, key] of content) inside.remove(collection, key, { gracePeriodSeconds: 0 });
  if (contentOf(inside, name).length === 0) inside.update("namespaces", { ...space, spec: {} }, "finalize");
}

function contentOf(inside: Inside, namespace: string): [collection: string, key: string][] {
  const collections = [...inside.state.collections.keys()];
  return collections.flatMap((collection) =>
    [...objectsIn(inside.state, collection)]
      .filter((object) => object.metadata.namespace === namespace)
      .map((object): [string, string] => [collection, keyOf(object)]),
  );
}

function emptyDefinition(inside: Inside, name: string): void {
  for (const object of inside.all(name)) inside.remove(name, keyOf(object));
  const found = inside.get(definition.collection, name);
  if (found === undefined || inside.all(name).length > 0) return;
  release(inside, definition.collection, found, CLEANUP_FINALIZER);
}

function planExpiry(inside: Inside, agenda: Agenda): void {
  agenda.plan("expire-events", inside.nowMs + EXPIRE_EVERY_MS, () => {
    const events = inside.all("events");
    const old = events.filter((event) => lastWritten(event) < inside.nowMs - EVENTS_LIVE_MS);
    for (const event of old) inside.remove("events", keyOf(event));
    if (events.length > old.length) planExpiry(inside, agenda);
  });
}

/** The latest moment that the event speaks of. */
function lastWritten(event: KubeObject): number {
  const times = [event.metadata.creationTimestamp, event["lastTimestamp"], event["eventTime"]];
  const series = (event["series"] as { lastObservedTime?: string } | undefined)?.lastObservedTime;
  return Math.max(...[...times, series].map((time) => (typeof time === "string" ? Date.parse(time) : 0)));
}
