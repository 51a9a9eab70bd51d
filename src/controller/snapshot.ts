/**
 * A cache as one array that stays the same object until the cache changes. Decisions memoise indexes by that object,
 * so a thousand Services that look at one state pay for one index.
 */
import type { KubeObject } from "../kube/client/resources.ts";
import type { Reflector } from "../kube/cache/reflector.ts";

export class Snapshot<T> {
  readonly #values: () => Iterable<T>;
  readonly #keep: (value: T) => boolean;
  #current: readonly T[] | undefined;
  #derived: unknown;

  constructor(reflector: Reflector<T & KubeObject>, keep: (value: T) => boolean = () => true) {
    this.#values = () => reflector.store.values();
    this.#keep = keep;
    reflector.subscribe(() => {
      this.#current = undefined;
      this.#derived = undefined;
    });
  }

  get values(): readonly T[] {
    this.#current ??= [...this.#values()].filter(this.#keep);
    return this.#current;
  }

  /** Computed once per state; always called with the same function. */
  derive<D>(compute: (values: readonly T[]) => D): D {
    this.#derived ??= compute(this.values);
    return this.#derived as D;
  }
}
