/**
 * The objects of one kind as we know them best: what the watch told, and what our own writes made of it since. Whoever
 * decides reads here, because a watch lags behind the writer, and deciding on the older state would do things twice.
 */
import { keyOf, type KubeObject } from "../../../kube/client/resources.ts";
import type { Reflector } from "../../../kube/cache/reflector.ts";
import { Store, type Indexers, type ReadonlyStore } from "../../../kube/cache/store.ts";
import { isNewer } from "../../newer.ts";

export class WriteThroughStore<T extends KubeObject> {
  readonly #store: Store<T>;

  /** Subscribes first of all, so that it is up to date when anybody else hears of a change. */
  constructor(reflector: Reflector<T>, indexers: Indexers<T> = {}) {
    this.#store = new Store(indexers);
    reflector.subscribe((change) => {
      if (change.kind === "deleted") this.#store.remove(keyOf(change.object), change.object.metadata.uid);
      else this.#put(change.object);
    });
  }

  get store(): ReadonlyStore<T> {
    return this.#store;
  }

  get(key: string): T | undefined {
    return this.#store.get(key);
  }

  by(index: string, value: string): T[] {
    return this.#store.by(index, value);
  }

  /** What a write of ours was answered with. */
  wrote(object: T): void {
    this.#put(object);
  }

  /** It is gone, by our own doing. */
  lost(object: T): void {
    this.#store.remove(keyOf(object), object.metadata.uid);
  }

  #put(object: T): void {
    const known = this.#store.get(keyOf(object));
    const isOld = known !== undefined && known.metadata.uid === object.metadata.uid && isNewer(known, object);
    if (!isOld) this.#store.put(object);
  }
}
