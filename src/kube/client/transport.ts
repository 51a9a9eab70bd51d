/**
 * The wire, as the client asks for it: one request, one answer whose body arrives in pieces. Knows nothing of
 * Kubernetes. `http-transport.ts` is the real one; a simulation brings its own.
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
