/**
 * A cache as one array that stays the same object until the cache changes. Decisions remember indexes by that object
 * (`core/util/memo.ts`), so a thousand Services that look at one state pay for one index.
 */
import type { KubeObject } from "../kube/client/resources.ts";
import type { Reflector } from "../kube/cache/reflector.ts";

export class Snapshot<T> {
  readonly #values: () => Iterable<T>;
  readonly #keep: (value: T) => boolean;
  #current: readonly T[] | undefined;

  constructor(reflector: Reflector<T & KubeObject>, keep: (value: T) => boolean = () => true) {
    this.#values = () => reflector.store.values();
    this.#keep = keep;
    reflector.subscribe(() => {
      this.#current = undefined;
    });
  }

  get values(): readonly T[] {
    this.#current ??= [...this.#values()].filter(this.#keep);
    return this.#current;
  }
}
