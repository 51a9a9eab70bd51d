/**
 * The objects of one kind as last seen, by key, with indexes. Readers get `ReadonlyStore`; only the owner of the store
 * writes. Every write returns what changed: a name that stands for another object now (another uid) is a delete and an
 * add, never an update.
 */
import { keyOf, type KubeObject, sameBesidesVersion } from "../client/resources.ts";
import { isOlder } from "./revision-check.ts";

export type Change<T> =
  | { readonly kind: "added"; readonly object: T }
  | { readonly kind: "updated"; readonly old: T; readonly object: T }
  /** As it was last seen here. */
  | { readonly kind: "deleted"; readonly object: T };

export type Subscriber<T> = (change: Change<T>) => void | Promise<void>;

/** name → the values under which an object is found. */
export type Indexers<T> = Readonly<Record<string, (object: T) => readonly string[]>>;

export interface ReadonlyStore<T> {
  readonly size: number;
  /** `namespace/name`, or the name of a cluster-wide object. */
  get(key: string): T | undefined;
  values(): IterableIterator<T>;
  /**
   * All of them, as an array that stays the same object until `put` or `remove` reports a change: decisions remember
   * indexes by it (`core/util/memo.ts`). Versions may be behind where nothing else differs.
   */
  readonly snapshot: readonly T[];
  keys(): IterableIterator<string>;
  /** The objects that an indexer put under that value. */
  by(index: string, value: string): T[];
}

export class Store<T extends KubeObject> implements ReadonlyStore<T> {
  readonly #objects = new Map<string, T>();
  readonly #indexers: Indexers<T>;
  /** index → value → keys. */
  readonly #indexes = new Map<string, Map<string, Set<string>>>();
  #snapshot: readonly T[] | undefined;

  constructor(indexers: Indexers<T> = {}) {
    this.#indexers = indexers;
    for (const index of Object.keys(indexers)) this.#indexes.set(index, new Map());
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  values(): IterableIterator<T> {
    return this.#objects.values();
  }

  get snapshot(): readonly T[] {
    return (this.#snapshot ??= [...this.#objects.values()]);
  }

  keys(): IterableIterator<string> {
    return this.#objects.keys();
  }

  by(index: string, value: string): T[] {
    const values = this.#indexes.get(index);
    if (values === undefined) throw new Error(`there is no index ${index}`);
    const found: T[] = [];
    for (const key of values.get(value) ?? []) found.push(this.#objects.get(key)!);
    return found;
  }

  /** Returns what that changed for a reader: nothing if it was known, or if nothing but its version differs. */
  put(object: T): Change<T>[] {
    const known = this.#objects.get(keyOf(object))?.metadata;
    const isKnown = known?.uid === object.metadata.uid && known.resourceVersion === object.metadata.resourceVersion;
    return isKnown ? [] : this.replace(object);
  }

  /** As `put`, where an equal version may stand for another state: on a server that was restored to an older one. */
  replace(object: T): Change<T>[] {
    const key = keyOf(object);
    const old = this.#objects.get(key);
    const isSame = old !== undefined && old.metadata.uid === object.metadata.uid;
    this.#objects.set(key, object);
    this.#index(key, old, object);
    if (isSame && sameBesidesVersion(old, object)) return [];
    this.#snapshot = undefined;
    if (isSame) return [{ kind: "updated", old, object }];
    const added = { kind: "added", object } as const;
    return old === undefined ? [added] : [{ kind: "deleted", object: old }, added];
  }

  /** With a uid, only that incarnation. */
  remove(key: string, uid?: string): Change<T>[] {
    const old = this.#objects.get(key);
    if (old === undefined || (uid !== undefined && old.metadata.uid !== uid)) return [];
    this.#objects.delete(key);
    this.#index(key, old, undefined);
    this.#snapshot = undefined;
    return [{ kind: "deleted", object: old }];
  }

  /** Most changes leave an object where it is in every index: then nothing is written. */
  #index(key: string, old: T | undefined, object: T | undefined): void {
    if (old === object) return;
    for (const [index, values] of this.#indexes) {
      const indexer = this.#indexers[index]!;
      const before = old === undefined ? [] : indexer(old);
      const now = object === undefined ? [] : indexer(object);
      for (const value of before) if (!now.includes(value)) removeFrom(values, value, key);
      for (const value of now) if (!before.includes(value)) addTo(values, value, key);
    }
  }
}

function addTo(values: Map<string, Set<string>>, value: string, key: string): void {
  const keys = values.get(value);
  if (keys === undefined) values.set(value, new Set([key]));
  else keys.add(key);
}

function removeFrom(values: Map<string, Set<string>>, value: string, key: string): void {
  const keys = values.get(value);
  keys?.delete(key);
  if (keys?.size === 0) values.delete(value);
}

/** What a reflector keeps up to date. */
interface Watched<T> {
  readonly store: ReadonlyStore<T>;
  subscribe(subscriber: Subscriber<T>): void;
  /** The listener is called when the server went back to an older state, before that is listed. */
  onRewind(listener: () => void): void;
}

/**
 * The objects of one kind with the controller's own writes in them: what the watch brought, and the answers to writes
 * that it has not brought yet. Decisions that follow a write read here, because a watch lags behind the writer, and a
 * decision on the older state would write the same again.
 *
 * What the watch brings counts, unless it is older than a write that it has not brought yet. An object that the watch
 * reports as deleted is gone; another one of its name (another uid) is another object. When the server went back to an
 * older state, the writes are forgotten: the watch alone knows which of them it still has.
 */
export class WriteThroughStore<T extends KubeObject> {
  readonly #watched: ReadonlyStore<T>;
  readonly #store: Store<T>;
  /** The last write of each object, until the watch reports that version or a later one. */
  readonly #writes = new Map<string, T>();

  /** To be made before any other subscriber, so that it is up to date when they are called. */
  constructor(watched: Watched<T>, indexers: Indexers<T> = {}) {
    this.#watched = watched.store;
    this.#store = new Store(indexers);
    watched.subscribe((change) => {
      if (change.kind === "deleted") this.lost(change.object);
      else this.#watchBrought(change.object);
    });
    watched.onRewind(() => this.#forgetWrites());
  }

  /** All of them; versions may be behind those of `get` where nothing else differs. */
  get store(): ReadonlyStore<T> {
    return this.#store;
  }

  get(key: string): T | undefined {
    const known = this.#store.get(key);
    return known && this.#newest(known);
  }

  by(index: string, value: string): T[] {
    return this.#store.by(index, value).map((known) => this.#newest(known));
  }

  /**
   * The same version of the object, where a write has brought it already. The watch's copy need then be neither read nor kept:
   * thousands of objects that are written thrice cost half as much.
   */
  written({ metadata }: KubeObject): T | undefined {
    const written = this.#writes.get(keyOf({ metadata }))?.metadata;
    const isSame = written?.uid === metadata.uid && written.resourceVersion === metadata.resourceVersion;
    return isSame ? this.#writes.get(keyOf({ metadata })) : undefined;
  }

  /**
   * The answer to a write of the controller. Not where the object is being deleted and unknown, or another has its name:
   * then the watch was faster to report its end than the API server to answer.
   */
  wrote(object: T): void {
    const key = keyOf(object);
    const known = this.#store.get(key);
    const isOver = object.metadata.deletionTimestamp !== undefined && known?.metadata.uid !== object.metadata.uid;
    if (isOver) return;
    if (known !== undefined && isNewer(known, object)) return;
    this.#store.put(object);
    this.#writes.set(key, object);
  }

  /**
   * The controller took its finalizer off, with this answer; `undefined` where the object was gone already. Without any
   * finalizer it is gone, which the watch reports later: until then neither its last known state nor an older one that
   * is still on its way may have anything done for it once more.
   */
  released(object: T, stored: T | undefined): void {
    if (stored === undefined) return this.lost(object);
    this.wrote(stored);
    const isGone = (stored.metadata.finalizers ?? []).length === 0;
    if (isGone) this.#store.remove(keyOf(stored), stored.metadata.uid);
  }

  /** The API server says that it is gone. */
  lost(object: T): void {
    const key = keyOf(object);
    this.#store.remove(key, object.metadata.uid);
    if (this.#writes.get(key)?.metadata.uid === object.metadata.uid) this.#writes.delete(key);
  }

  #watchBrought(object: T): void {
    const key = keyOf(object);
    const written = this.#writes.get(key);
    if (written !== undefined && isNewer(written, object)) return;
    this.#writes.delete(key);
    if (this.#store.get(key) !== object) this.#store.replace(object);
  }

  #forgetWrites(): void {
    for (const key of this.#writes.keys()) {
      const watched = this.#watched.get(key);
      if (watched === undefined) this.#store.remove(key);
      else this.#store.replace(watched);
    }
    this.#writes.clear();
  }

  /** A reflector reports no change where only the version differs; the version is what preconditions need. */
  #newest(known: T): T {
    const watched = this.#watched.get(keyOf(known));
    return watched !== undefined && isNewer(watched, known) ? watched : known;
  }
}

/** Of the same object? */
function isNewer(one: KubeObject, other: KubeObject): boolean {
  if (one === other || one.metadata.uid !== other.metadata.uid) return false;
  return isOlder(other.metadata.resourceVersion, one.metadata.resourceVersion);
}
