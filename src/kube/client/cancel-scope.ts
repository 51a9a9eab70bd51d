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
