/**
 * A lock per address within this process: any number of records may register it at once, a deregistration is exclusive.
 * Across processes the stored records serialize both (`reconcile-backend-record.ts`).
 */
export class AddressLock {
  readonly #ensuring = new Map<string, number>();
  readonly #deregistering = new Set<string>();
  readonly #waiting = new Map<string, Set<string>>();
  readonly #requeue: (record: string) => void;

  /** `requeue` is called for each record that was refused the lock, once it may be free. */
  constructor(requeue: (record: string) => void) {
    this.#requeue = requeue;
  }

  /** Returns the function that releases the lock; `undefined` when it is taken, and the record will be requeued. */
  acquire(address: string, intent: "ensure" | "deregister", record: string): (() => void) | undefined {
    const ensuring = this.#ensuring.get(address) ?? 0;
    const isTaken = this.#deregistering.has(address) || (intent === "deregister" && ensuring > 0);
    if (isTaken) {
      this.#waiting.set(address, (this.#waiting.get(address) ?? new Set()).add(record));
      return undefined;
    }
    if (intent === "ensure") this.#ensuring.set(address, ensuring + 1);
    else this.#deregistering.add(address);
    return () => this.#leave(address, intent);
  }

  #leave(address: string, intent: "ensure" | "deregister"): void {
    const ensuring = (this.#ensuring.get(address) ?? 0) - 1;
    if (intent === "deregister") this.#deregistering.delete(address);
    else if (ensuring > 0) this.#ensuring.set(address, ensuring);
    else this.#ensuring.delete(address);
    const waiting = this.#waiting.get(address);
    if (waiting === undefined || (intent === "ensure" && ensuring > 0)) return;
    this.#waiting.delete(address);
    for (const record of waiting) this.#requeue(record);
  }
}
