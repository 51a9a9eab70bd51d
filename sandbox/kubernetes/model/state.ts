/**
 * The state of the embedded API: objects by collection, the history that watches resume from, and indexes derived from
 * the objects. Only `applyChange` and `compact` alter it.
 */
import type { Change, HistoryEntry, KubeObject } from "./contract.ts";
import { indexObject, newIndexes, type Indexes } from "./indexes.ts";

export interface Collection {
  readonly objects: Map<string, KubeObject>;
  /** The sorted keys, computed on demand; reset when a key is added or removed. */
  sortedKeys: readonly string[] | undefined;
}

export interface State {
  revision: number;
  /** History up to and including this revision was dropped. */
  compactedRevision: number;
  /** Ascending by revision, all above `compactedRevision`. */
  history: HistoryEntry[];
  readonly collections: Map<string, Collection>;
  readonly indexes: Indexes;
}

/** Entries of history; beyond this the oldest half is dropped. */
const HISTORY_LIMIT = 100_000;

export function newState(): State {
  return { revision: 1, compactedRevision: 0, history: [], collections: new Map(), indexes: newIndexes() };
}

/** `namespace/name`, or the bare name of a cluster-scoped object. */
export function keyOf(object: { metadata: { namespace?: string; name?: string } }): string {
  const { namespace, name = "" } = object.metadata;
  return namespace === undefined ? name : `${namespace}/${name}`;
}

export function collectionOf(state: State, name: string): Collection {
  let collection = state.collections.get(name);
  if (collection === undefined) {
    collection = { objects: new Map(), sortedKeys: undefined };
    state.collections.set(name, collection);
  }
  return collection;
}

export function objectAt(state: State, collection: string, key: string): KubeObject | undefined {
  return state.collections.get(collection)?.objects.get(key);
}

export function* objectsIn(state: State, collection: string): Iterable<KubeObject> {
  yield* state.collections.get(collection)?.objects.values() ?? [];
}

/** Keys in list order. */
export function sortedKeys(collection: Collection): readonly string[] {
  collection.sortedKeys ??= [...collection.objects.keys()].sort();
  return collection.sortedKeys;
}

export function applyChange(state: State, change: Change): HistoryEntry {
  const collection = collectionOf(state, change.collection);
  const key = keyOf(change.object);
  const previous = collection.objects.get(key);
  if (change.type === "DELETED") {
    collection.objects.delete(key);
  } else {
    collection.objects.set(key, change.object);
  }
  if ((previous === undefined) !== (change.type === "DELETED")) collection.sortedKeys = undefined;
  indexObject(state.indexes, change.collection, previous, change.type === "DELETED" ? undefined : change.object);
  state.revision = change.revision;
  const entry: HistoryEntry = { ...change, previous };
  state.history.push(entry);
  if (state.history.length > HISTORY_LIMIT) compact(state, state.history[HISTORY_LIMIT / 2]?.revision ?? 0);
  return entry;
}

/** Drops the history up to and including this revision. */
export function compact(state: State, revision: number): void {
  state.history = state.history.slice(firstAfter(state.history, revision));
  state.compactedRevision = Math.max(state.compactedRevision, Math.min(revision, state.revision));
}

export function historyAfter(state: State, revision: number): readonly HistoryEntry[] {
  return state.history.slice(firstAfter(state.history, revision));
}

/** Index of the first entry above the revision, by bisection. */
function firstAfter(history: readonly HistoryEntry[], revision: number): number {
  let low = 0;
  let high = history.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((history[middle]?.revision ?? 0) > revision) high = middle;
    else low = middle + 1;
  }
  return low;
}
