/**
 * A signal of its own for one piece of work, which also follows the callers'. Listens only as long as the work
 * lasts, so that ten thousand short works under one long-lived signal leave nothing behind on it.
 */
export class CancelScope implements Disposable {
  readonly #controller = new AbortController();
  readonly #parents: readonly AbortSignal[];
  readonly #follow = (): void => this.#controller.abort(this.#parents.find((parent) => parent.aborted)?.reason);

  constructor(...parents: (AbortSignal | undefined)[]) {
    this.#parents = parents.filter((parent) => parent !== undefined);
    for (const parent of this.#parents) parent.addEventListener("abort", this.#follow);
    if (this.#parents.some((parent) => parent.aborted)) this.#follow();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  [Symbol.dispose](): void {
    for (const parent of this.#parents) parent.removeEventListener("abort", this.#follow);
  }
}

/**
 * What the work gives, unless the signal is aborted first: for work that does not look at signals itself. Where that has
 * happened it is not begun: nobody would hear it fail.
 */
export async function unlessAborted<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) throw signal.reason;
  let leave = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason);
    signal.addEventListener("abort", leave);
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
