/** Runs at most `most` jobs at a time; the others wait in order. */
export class ConcurrencyLimit {
  readonly #most: number;
  /** In order; taken from `#next` on, since taking the first of a long array moves all others. */
  #waiting: (() => void)[] = [];
  #next = 0;
  #running = 0;

  constructor(most: number) {
    this.#most = most;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#most) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await work();
    } finally {
      // the next job takes over the slot
      const next = this.#take();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  #take(): (() => void) | undefined {
    const next = this.#waiting[this.#next++];
    if (this.#next >= this.#waiting.length) {
      this.#waiting = [];
      this.#next = 0;
    }
    return next;
  }
}
