/**
 * Puts what lists and watches bring into the store, and notifies the subscribers. Knows nothing of connections or time.
 *
 * A list may arrive over an older state, in pieces and more than once: objects are reported as they come, and what the
 * complete list did not bring is reported as deleted. A list that breaks off changes nothing else. After a rewind (the
 * server went back to an older state) the next complete list reports every object, changed or not: decisions may rest on
 * writes that the server no longer has.
 */
import { keyOf, type KubeObject } from "../client/resources.ts";
import { Store, type Change, type Indexers, type Subscriber } from "./store.ts";

export interface IntakeOptions<T> {
  readonly project: (object: KubeObject) => T;
  readonly indexers?: Indexers<T> | undefined;
  /** A projection or a subscriber threw. */
  readonly onError: (error: unknown) => void;
}

export class Intake<T extends KubeObject> {
  readonly store: Store<T>;
  /** Changes in which nothing differs that the projection keeps. */
  unchanged = 0;
  readonly #options: IntakeOptions<T>;
  readonly #subscribers: Subscriber<T>[] = [];
  readonly #rewindListeners: (() => void)[] = [];
  #listed: Set<string> | undefined;
  /** Until the next list is complete. */
  #isRewound = false;

  constructor(options: IntakeOptions<T>) {
    this.#options = options;
    this.store = new Store(options.indexers);
  }

  /** Gets everything that is already known first, as added. */
  subscribe(subscriber: Subscriber<T>): void {
    this.#subscribers.push(subscriber);
    for (const object of this.store.values()) this.#notify(subscriber, { kind: "added", object });
  }

  onRewind(listener: () => void): void {
    this.#rewindListeners.push(listener);
  }

  rewind(): void {
    this.#isRewound = true;
    for (const listener of this.#rewindListeners) listener();
  }

  beginList(): void {
    this.#listed = new Set();
  }

  /** Everything has been listed: what was not is no more. */
  completeList(): void {
    const listed = this.#listed ?? new Set();
    this.#listed = undefined;
    this.#isRewound = false;
    for (const key of this.store.keys()) if (!listed.has(key)) this.#notifyAll(this.store.remove(key));
  }

  put(object: KubeObject): void {
    this.#listed?.add(keyOf(object));
    const known = this.#projected(object);
    if (known === undefined) return;
    const changes = this.#isRewound ? this.store.replace(known) : this.store.put(known);
    if (changes.length === 0) this.unchanged += 1;
    const isToldAgain = changes.length === 0 && this.#isRewound;
    this.#notifyAll(isToldAgain ? [{ kind: "updated", old: known, object: known }] : changes);
  }

  /** A late delete of an earlier object of the same name does not concern the one in the store. */
  remove(object: KubeObject): void {
    const key = keyOf(object);
    this.#listed?.delete(key);
    this.#notifyAll(this.store.remove(key, object.metadata.uid));
  }

  /** An object that cannot be read stays as it was last read: not knowing is no deletion. */
  #projected(object: KubeObject): T | undefined {
    try {
      return this.#options.project(object);
    } catch (error) {
      this.#options.onError(error);
      return undefined;
    }
  }

  #notifyAll(changes: readonly Change<T>[]): void {
    for (const change of changes) for (const subscriber of this.#subscribers) this.#notify(subscriber, change);
  }

  #notify(subscriber: Subscriber<T>, change: Change<T>): void {
    try {
      const handling = subscriber(change);
      if (handling instanceof Promise) handling.catch(this.#options.onError);
    } catch (error) {
      this.#options.onError(error);
    }
  }
}
