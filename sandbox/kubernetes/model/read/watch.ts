/**
 * WATCH: turns changes into the events of one watch.
 *
 *   before matches | after matches | the watcher sees
 *   ---------------|---------------|------------------------------------------------------
 *   no             | yes           | ADDED
 *   yes            | yes           | MODIFIED
 *   yes            | no            | DELETED, with the last matching state and the new version
 *   no             | no            | nothing
 */
import type { ChangeType, HistoryEntry, KubeObject, OpenWatch, WatchFrame } from "../contract.ts";
import { groupVersion, type Resource } from "../resource.ts";
import { historyAfter, sortedKeys, collectionOf, type State } from "../state.ts";
import { expired } from "../status-error.ts";
import type { Presenter } from "./present.ts";
import { checkListOptions, parseVersion } from "./resource-version.ts";
import { type Matcher, parseMatcher } from "./selectors.ts";

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";
const LEAST_DEFAULT_TIMEOUT_MS = 30 * 60_000;

interface Watching {
  readonly state: State;
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly query: Readonly<Record<string, string>>;
  readonly present: Presenter;
  readonly nowMs: number;
  /** From 0 to 1: spreads the ends of watches that set no timeout. */
  readonly jitter: number;
}

export function openWatch(watching: Watching): OpenWatch {
  const { state, resource, namespace, query, nowMs } = watching;
  checkListOptions(query, true);
  const { matches } = parseMatcher(resource, namespace, query);
  const from = parseVersion(query["resourceVersion"]);
  const streaming = query["sendInitialEvents"] === "true";
  const wholeState = streaming || (from === 0 && query["sendInitialEvents"] !== "false");
  const bookmarks = isTrue(query["allowWatchBookmarks"]);
  const frames = (entry: HistoryEntry, atMs: number): WatchFrame[] => {
    // A watch from a future version stays silent until that version.
    if (entry.collection !== resource.collection || (!wholeState && entry.revision <= from)) return [];
    return framesFor(entry, matches, (object) => watching.present(object, atMs));
  };
  const common = {
    kind: "watch" as const,
    collection: resource.collection,
    timeoutMs: timeoutMs(query["timeoutSeconds"], watching.jitter),
    accept: frames,
    bookmark: (revision: number): WatchFrame | undefined => (bookmarks ? bookmark(resource, revision) : undefined),
  };
  if (!wholeState && from < state.compactedRevision) return { ...common, first: [tooOld(state, from)], ended: true };
  if (!wholeState)
    return { ...common, first: historyAfter(state, from).flatMap((entry) => frames(entry, nowMs)), ended: false };
  const end = streaming ? [bookmark(resource, state.revision, { [INITIAL_EVENTS_END]: "true" })] : [];
  return { ...common, first: [...initial(watching, matches), ...end], ended: false };
}

function initial({ state, resource, present, nowMs }: Watching, matches: Matcher): WatchFrame[] {
  const collection = collectionOf(state, resource.collection);
  return sortedKeys(collection).flatMap((key) => {
    const object = collection.objects.get(key);
    return object !== undefined && matches(object) ? [{ type: "ADDED" as const, object: present(object, nowMs) }] : [];
  });
}

function framesFor(entry: HistoryEntry, matches: Matcher, present: (object: KubeObject) => unknown): WatchFrame[] {
  const before = entry.previous !== undefined && matches(entry.previous);
  const after = entry.type !== "DELETED" && matches(entry.object);
  if (!before && !after) return [];
  const type: ChangeType = after ? (before ? "MODIFIED" : "ADDED") : "DELETED";
  return [{ type, object: present(type === "DELETED" ? lastSeen(entry) : entry.object) }];
}

/** The last matching state, with the resourceVersion of the change that removed it. */
function lastSeen(entry: HistoryEntry): KubeObject {
  if (entry.type === "DELETED" || entry.previous === undefined) return entry.object;
  const { resourceVersion = "" } = entry.object.metadata;
  return { ...entry.previous, metadata: { ...entry.previous.metadata, resourceVersion } };
}

function bookmark(resource: Resource, revision: number, annotations?: Record<string, string>): WatchFrame {
  const metadata = { resourceVersion: String(revision), ...(annotations === undefined ? {} : { annotations }) };
  return { type: "BOOKMARK", object: { kind: resource.kind, apiVersion: groupVersion(resource), metadata } };
}

function tooOld(state: State, from: number): WatchFrame {
  const error = expired(`too old resource version: ${from} (${state.compactedRevision + 1})`);
  return { type: "ERROR", object: error.toStatus() };
}

function timeoutMs(seconds: string | undefined, jitter: number): number {
  const asked = Number(seconds ?? 0);
  return asked > 0 ? asked * 1000 : LEAST_DEFAULT_TIMEOUT_MS * (1 + jitter);
}

export function isTrue(value: string | undefined): boolean {
  return value === "true" || value === "1";
}
