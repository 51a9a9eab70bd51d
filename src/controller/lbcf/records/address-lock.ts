/**
 * Keeps registering and deregistering of one address apart within this process; across processes the stored records do
 * (`reconcile-backend-record.ts`). Any number may register at once; a deregistration is alone.
 */
export class AddressLock {
  readonly #ensuring = new Map<string, number>();
  readonly #deregistering = new Set<string>();
  readonly #waiting = new Map<string, Set<string>>();
  readonly #requeue: (record: string) => void;

  /** `wake`: told of each record that was turned away, once its turn may have come. */
  constructor(wake: (record: string) => void) {
    this.#requeue = wake;
  }

  /** `undefined`: not now; the record will be woken. Else call the answer when done. */
  enter(address: string, intent: "ensure" | "deregister", record: string): (() => void) | undefined {
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
