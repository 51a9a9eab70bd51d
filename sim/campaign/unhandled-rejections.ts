/** Rejections that nobody hears. Each would end a real controller: Node's process does so by default. */
export class Unheard {
  readonly #errors: unknown[] = [];
  readonly #note = (error: unknown): void => void this.#errors.push(error);

  constructor() {
    process.on("unhandledRejection", this.#note);
  }

  /** All since the beginning. Node tells of them when a turn of the event loop ends, so one has to end. */
  async end(): Promise<readonly unknown[]> {
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", this.#note);
    return this.#errors;
  }
}
