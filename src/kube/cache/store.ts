/**
 * The objects of one kind as last seen, by key, with indexes. Readers get `ReadonlyStore`; only the owner of the store
 * writes. Every write returns what changed: a name that stands for another object now (another uid) is a delete and an
 * add, never an update.
 */
import { keyOf, type KubeObject } from "../client/resources.ts";
import { sameBesidesVersion } from "../client/same-json.ts";

export type Change<T> =
  | { readonly kind: "added"; readonly object: T }
  | { readonly kind: "updated"; readonly old: T; readonly object: T }
  /** As it was last seen here. */
  | { readonly kind: "deleted"; readonly object: T };

/** name → the values under which an object is found. */
export type Indexers<T> = Readonly<Record<string, (object: T) => readonly string[]>>;

export interface ReadonlyStore<T> {
  readonly size: number;
  /** `namespace/name`, or the name of a cluster-wide object. */
  get(key: string): T | undefined;
  values(): IterableIterator<T>;
  keys(): IterableIterator<string>;
  /** The objects that an indexer put under that value. */
  by(index: string, value: string): T[];
}

export class Store<T extends KubeObject> implements ReadonlyStore<T> {
  readonly #objects = new Map<string, T>();
  readonly #indexers: Indexers<T>;
  /** index → value → keys. */
  readonly #indexes = new Map<string, Map<string, Set<string>>>();

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
    const key = keyOf(object);
    const old = this.#objects.get(key);
    if (old === undefined) {
      this.#set(key, object);
      return [{ kind: "added", object }];
    }
    if (old.metadata.uid !== object.metadata.uid) {
      this.#unset(key, old);
      this.#set(key, object);
      return [
        { kind: "deleted", object: old },
        { kind: "added", object },
      ];
    }
    if (old.metadata.resourceVersion === object.metadata.resourceVersion) return [];
    this.#unset(key, old);
    this.#set(key, object);
    return sameBesidesVersion(old, object) ? [] : [{ kind: "updated", old, object }];
  }

  /** With a uid, only that incarnation. */
  remove(key: string, uid?: string): Change<T>[] {
    const old = this.#objects.get(key);
    if (old === undefined || (uid !== undefined && old.metadata.uid !== uid)) return [];
    this.#unset(key, old);
    return [{ kind: "deleted", object: old }];
  }

  #set(key: string, object: T): void {
    this.#objects.set(key, object);
    for (const [index, values] of this.#indexes) {
      for (const value of this.#indexers[index]!(object)) {
        const keys = values.get(value);
        if (keys === undefined) values.set(value, new Set([key]));
        else keys.add(key);
      }
    }
  }

  #unset(key: string, object: T): void {
    this.#objects.delete(key);
    for (const [index, values] of this.#indexes) {
      for (const value of this.#indexers[index]!(object)) {
        const keys = values.get(value);
        keys?.delete(key);
        if (keys?.size === 0) values.delete(value);
      }
    }
  }
}
