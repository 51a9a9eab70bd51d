/** Collects and numbers the changes of one decision; the caller commits them. */
import type { Change, ChangeType, KubeObject } from "./contract.ts";
import type { State } from "./state.ts";

export class Transaction {
  readonly changes: Change[] = [];
  #revision: number;

  constructor(state: State) {
    this.#revision = state.revision;
  }

  /** Records a change; returns the object with its resourceVersion. */
  record(type: ChangeType, collection: string, object: KubeObject): KubeObject {
    this.#revision += 1;
    const stamped: KubeObject = {
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(this.#revision) },
    };
    this.changes.push({ revision: this.#revision, type, collection, object: stamped });
    return stamped;
  }
}
