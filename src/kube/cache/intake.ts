/**
 * What lists and watches bring, put into the store and told to subscribers. Knows nothing of connections or time.
 *
 * A list may arrive over an older state, in pieces and more than once: objects are told as they come, and what the
 * complete list did not bring is told as deleted. A list that breaks off changes nothing else.
 */
import { keyOf, type KubeObject } from "../client/resources.ts";
import { Store, type Change, type Indexers } from "./store.ts";

export type Subscriber<T> = (change: Change<T>) => void | Promise<void>;

export interface IntakeOptions<T> {
  readonly project: (object: KubeObject) => T;
  readonly indexers?: Indexers<T> | undefined;
  /** A projection or a subscriber threw. */
  readonly onError: (error: unknown) => void;
}

export class Intake<T extends KubeObject> {
  readonly store: Store<T>;
  /** Writes that changed nothing which anybody reads. */
  unchanged = 0;
  readonly #options: IntakeOptions<T>;
  readonly #subscribers: Subscriber<T>[] = [];
  #listed: Set<string> | undefined;

  constructor(options: IntakeOptions<T>) {
    this.#options = options;
    this.store = new Store(options.indexers);
  }

  /** Is told first of everything that is already known, as added. */
  subscribe(subscriber: Subscriber<T>): void {
    this.#subscribers.push(subscriber);
    for (const object of this.store.values()) this.#tell(subscriber, { kind: "added", object });
  }

  beginList(): void {
    this.#listed = new Set();
  }

  /** Everything has been listed: what was not is no more. */
  completeList(): void {
    const listed = this.#listed ?? new Set();
    this.#listed = undefined;
    for (const key of this.store.keys()) if (!listed.has(key)) this.#tellAll(this.store.remove(key));
  }

  put(object: KubeObject): void {
    this.#listed?.add(keyOf(object));
    const known = this.#projected(object);
    if (known === undefined) return;
    const changes = this.store.put(known);
    if (changes.length === 0) this.unchanged += 1;
    this.#tellAll(changes);
  }

  /** A delete of an earlier object with the same name, heard late, is not of the one we have. */
  remove(object: KubeObject): void {
    const key = keyOf(object);
    this.#listed?.delete(key);
    this.#tellAll(this.store.remove(key, object.metadata.uid));
  }

  /** An object that we fail to understand stays as we last understood it: not knowing is no deletion. */
  #projected(object: KubeObject): T | undefined {
    try {
      return this.#options.project(object);
    } catch (error) {
      this.#options.onError(error);
      return undefined;
    }
  }

  #tellAll(changes: readonly Change<T>[]): void {
    for (const change of changes) for (const subscriber of this.#subscribers) this.#tell(subscriber, change);
  }

  #tell(subscriber: Subscriber<T>, change: Change<T>): void {
    try {
      const telling = subscriber(change);
      if (telling instanceof Promise) telling.catch(this.#options.onError);
    } catch (error) {
      this.#options.onError(error);
    }
  }
}
