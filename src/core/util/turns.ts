/**
 * Whose turn it is among namespaces that share something scarce: of what waits, the first of the namespace that had its last
 * turn longest ago. What belongs to several namespaces, or to none, has turns of its own. Decides nothing about urgency.
 */
export class Turns {
  /** By namespace: the number of its last turn. */
  readonly #last = new Map<string | undefined, number>();
  #count = 0;

  /** `waiting`: in the order they came. */
  next<Item>(waiting: readonly Item[], namespaceOf: (item: Item) => string | undefined): Item | undefined {
    const last = (item: Item): number => this.lastOf(namespaceOf(item));
    let next = waiting[0];
    for (const item of waiting) if (next === undefined || last(item) < last(next)) next = item;
    return next;
  }

  /** It was the turn of all of these. */
  took(namespaces: readonly (string | undefined)[]): void {
    this.#count += 1;
    for (const namespace of namespaces) this.#last.set(namespace, this.#count);
  }

  /** The number of its last turn; 0: it had none. */
  lastOf(namespace: string | undefined): number {
    return this.#last.get(namespace) ?? 0;
  }

  /** Every namespace is as if it had had no turn. */
  forget(): void {
    this.#last.clear();
  }
}
