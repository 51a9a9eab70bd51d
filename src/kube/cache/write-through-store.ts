/**
 * The objects of one kind with the controller's own writes in them: what the watch brought, and the answers to writes
 * that it has not brought yet. Decisions that follow a write read here, because a watch lags behind the writer, and a
 * decision on the older state would write the same again.
 *
 * Of two versions of one object the newer counts. An object that the watch reports as deleted is gone; another one of its
 * name (another uid) is another object.
 */
import { keyOf, type KubeObject } from "../client/resources.ts";
import type { Reflector } from "./reflector.ts";
import { Store, type Indexers, type ReadonlyStore } from "./store.ts";

export class WriteThroughStore<T extends KubeObject> {
  readonly #watched: ReadonlyStore<T>;
  readonly #store: Store<T>;

  /** To be made before any other subscriber, so that it is up to date when they are called. */
  constructor(reflector: Pick<Reflector<T>, "store" | "subscribe">, indexers: Indexers<T> = {}) {
    this.#watched = reflector.store;
    this.#store = new Store(indexers);
    reflector.subscribe((change) => {
      if (change.kind === "deleted") this.#store.remove(keyOf(change.object), change.object.metadata.uid);
      else this.#put(change.object);
    });
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
   * The answer to a write of the controller. Not where the object is being deleted and unknown: then the watch was
   * faster to report its end than the API server to answer.
   */
  wrote(object: T): void {
    const isOver = object.metadata.deletionTimestamp !== undefined && this.#store.get(keyOf(object)) === undefined;
    if (!isOver) this.#put(object);
  }

  /** The API server says that it is gone. */
  lost(object: T): void {
    this.#store.remove(keyOf(object), object.metadata.uid);
  }

  #put(object: T): void {
    const known = this.#store.get(keyOf(object));
    if (known === undefined || !isNewer(known, object)) this.#store.put(object);
  }

  /** A reflector reports no change where only the version differs; the version is what preconditions need. */
  #newest(known: T): T {
    const watched = this.#watched.get(keyOf(known));
    return watched !== undefined && isNewer(watched, known) ? watched : known;
  }
}

/** Of the same object? Versions are decimal and grow, as Kubernetes promises; others are not compared. */
function isNewer(one: KubeObject, other: KubeObject): boolean {
  if (one === other || one.metadata.uid !== other.metadata.uid) return false;
  const [a, b] = [one.metadata.resourceVersion, other.metadata.resourceVersion];
  if (!/^\d+$/.test(a) || !/^\d+$/.test(b)) return false;
  return BigInt(a) > BigInt(b);
}
