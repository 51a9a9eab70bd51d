/** Listens to a reflector and remembers every breach of what it promises its subscribers. */
import type { KubeObject } from "../../../src/kube/client/resources.ts";
import type { Change } from "../../../src/kube/cache/store.ts";

export class ChangeChecker {
  readonly breaches: string[] = [];
  changes = 0;
  /** uid → the version last told. */
  readonly #alive = new Map<string, string>();
  readonly #gone = new Set<string>();

  readonly listen = (change: Change<KubeObject>): void => {
    this.changes += 1;
    const { uid, name, resourceVersion } = change.object.metadata;
    const known = this.#alive.get(uid);
    if (this.#gone.has(uid)) this.breaches.push(`${change.kind} ${name} after it was deleted`);
    switch (change.kind) {
      case "added":
        if (known !== undefined) this.breaches.push(`added ${name} twice`);
        break;
      case "updated":
        if (change.old.metadata.uid !== uid) this.breaches.push(`updated ${name} from another object`);
        if (known !== change.old.metadata.resourceVersion) this.breaches.push(`updated ${name} from what was not told`);
        if (known === resourceVersion) this.breaches.push(`updated ${name} twice to version ${resourceVersion}`);
        if (Number(known) > Number(resourceVersion)) this.breaches.push(`updated ${name} back in time`);
        break;
      case "deleted":
        if (known === undefined) this.breaches.push(`deleted ${name}, which was not told of`);
        break;
    }
    if (change.kind === "deleted") {
      this.#alive.delete(uid);
      this.#gone.add(uid);
    } else {
      this.#alive.set(uid, resourceVersion);
    }
  };

  get alive(): number {
    return this.#alive.size;
  }
}
