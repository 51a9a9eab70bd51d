/**
 * Writes that are known to come: a Service whose public IP is being made will join its load balancer. Only counts them; what a
 * lane does about it is the lane's to decide.
 */
import { wholeOf } from "../../core/model/ids.ts";

export class ExpectedWrites {
  /** By whose they are: the resources, by id in lower case. */
  readonly #byKey = new Map<string, ReadonlySet<string>>();
  readonly #counts = new Map<string, number>();
  readonly #onFewer: (id: string) => void;

  /** `onFewer`: one has come, or will not come any more. */
  constructor(onFewer: (id: string) => void) {
    this.#onFewer = onFewer;
  }

  /** In place of what was expected of it before. */
  expect(key: string, ids: readonly string[]): void {
    const before = this.#byKey.get(key);
    const now = new Set(ids.map((id) => wholeOf(id).toLowerCase()));
    if (now.size === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, now);
    for (const id of now) if (before?.has(id) !== true) this.#counts.set(id, this.count(id) + 1);
    for (const id of before ?? []) if (!now.has(id)) this.#drop(id);
  }

  came(key: string, id: string): void {
    const ids = this.#byKey.get(key);
    const come = wholeOf(id).toLowerCase();
    if (ids?.has(come) === true)
      this.expect(
        key,
        [...ids].filter((one) => one !== come),
      );
  }

  count(id: string): number {
    return this.#counts.get(wholeOf(id).toLowerCase()) ?? 0;
  }

  #drop(id: string): void {
    const left = this.count(id) - 1;
    if (left > 0) this.#counts.set(id, left);
    else this.#counts.delete(id);
    this.#onFewer(id);
  }
}
