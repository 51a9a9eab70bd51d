/**
 * The wire, as the client asks for it: one request, one answer whose body arrives in pieces. Knows nothing of
 * Kubernetes. `http-transport.ts` is the real one; a simulation brings its own. Also how a request is ended, and its
 * answer read whole.
 */

export interface WireRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query, beginning with `/`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Ends the request at any stage, also while the body arrives, with the signal's reason. */
  readonly signal: AbortSignal;
}

export interface WireResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Must be read to its end or left early by `break`; the connection is free only then. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface Transport {
  /** Rejects when no answer comes; every status is an answer. Sets no deadline: that is the caller's. */
  send(request: WireRequest): Promise<WireResponse>;
  close(): Promise<void>;
}

/**
 * A signal of its own for one piece of work, which also follows the callers'. Listens only as long as the work
 * lasts, so that ten thousand short works under one long-lived signal leave nothing behind on it.
 */
export class CancelScope implements Disposable {
  readonly #controller = new AbortController();
  readonly signal = this.#controller.signal;
  readonly #parents: readonly AbortSignal[];
  readonly #follow = (): void => this.#controller.abort(this.#parents.find((parent) => parent.aborted)?.reason);

  constructor(...parents: (AbortSignal | undefined)[]) {
    this.#parents = parents.filter((parent) => parent !== undefined);
    for (const parent of this.#parents) parent.addEventListener("abort", this.#follow);
    if (this.#parents.some((parent) => parent.aborted)) this.#follow();
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  [Symbol.dispose](): void {
    for (const parent of this.#parents) parent.removeEventListener("abort", this.#follow);
  }
}

/** A whole answer as text; reading ends early once it is longer than the limit. */
export async function textOf(body: AsyncIterable<Uint8Array>, limitBytes = Number.POSITIVE_INFINITY): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    pieces.push(piece);
    bytes += piece.byteLength;
    if (bytes > limitBytes) break;
  }
  return Buffer.concat(pieces).toString("utf8");
}
