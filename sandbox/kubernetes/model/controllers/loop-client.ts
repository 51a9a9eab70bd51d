/** The store as the control loops use it: they write like clients, but without decoding and validation. */
import type { KubeObject, TokenAuthority } from "../contract.ts";
import type { EmbeddedApi } from "../embedded-api.ts";
import { sameJson } from "../json.ts";
import { resourceOfCollection } from "../registry.ts";
import { keyOf, objectAt, objectsIn, type State } from "../state.ts";
import { StatusError } from "../status-error.ts";
import { Transaction } from "../transaction.ts";
import { createStored } from "../write/create.ts";
import { type DeleteOptions, removeStored } from "../write/delete.ts";
import { replaceStored } from "../write/update.ts";
import { timestamp, type Write } from "../write/write.ts";

export class LoopClient {
  readonly #api: EmbeddedApi;

  constructor(api: EmbeddedApi) {
    this.#api = api;
  }

  get state(): State {
    return this.#api.state;
  }

  get tokens(): TokenAuthority | undefined {
    return this.#api.decisionContext().tokens;
  }

  get nowMs(): number {
    return this.#api.nowMs;
  }

  /** The current time as metadata and conditions have it. */
  get now(): string {
    return timestamp(this.nowMs);
  }

  get(collection: string, key: string): KubeObject | undefined {
    return objectAt(this.state, collection, key);
  }

  all(collection: string): KubeObject[] {
    return [...objectsIn(this.state, collection)];
  }

  create(collection: string, object: KubeObject): void {
    this.#write(collection, object, (write) => createStored(write, object));
  }

  /** Replaces the stored object without further consequences; no-op if nothing changed. */
  put(collection: string, object: KubeObject): void {
    const old = this.get(collection, keyOf(object));
    if (old === undefined || sameJson(old, object)) return;
    this.#write(collection, object, ({ transaction }) => transaction.record("MODIFIED", collection, object));
  }

  /** An update with its consequences: removing the last finalizer deletes a terminating object. */
  update(collection: string, object: KubeObject, sub?: "finalize"): void {
    const old = this.get(collection, keyOf(object));
    if (old !== undefined) this.#write(collection, object, (write) => replaceStored(write, old, object, sub));
  }

  remove(collection: string, key: string, options: DeleteOptions = {}): void {
    const old = this.get(collection, key);
    if (old !== undefined) this.#write(collection, old, (write) => removeStored(write, old, options));
  }

  /** Drops a refused write: the loops retry at the next change. */
  #write(collection: string, object: KubeObject, apply: (write: Write) => unknown): void {
    const resource = resourceOfCollection(this.state, collection);
    if (resource === undefined) return;
    const transaction = new Transaction(this.state);
    const write: Write = {
      ...this.#api.decisionContext(),
      resource,
      namespace: object.metadata.namespace,
      transaction,
      dryRun: false,
      force: false,
      fieldValidation: "Ignore",
      warnings: [],
    };
    try {
      apply(write);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return;
    }
    this.#api.commit(transaction.changes);
  }
}
