/** Requests with their whole body, and replies as data, between listeners and handlers. */

export interface HttpRequest {
  readonly method: string;
  /** Decoded, in the client's case. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly secure: boolean;
  /** The listener's port. */
  readonly port: number;
  /** Absolute base URL that the caller used, without a trailing slash. */
  readonly baseUrl: string;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON value; `undefined` means an empty body, unless there is `text`. */
  readonly body?: unknown;
  /** A body that is not JSON; its type is in the headers. */
  readonly text?: string;
}

/** The connection is closed without an answer. */
export const CUT = Symbol("cut");

export type Answer = (request: HttpRequest) => Promise<HttpReply | typeof CUT>;

export function jsonReply(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): HttpReply {
  return { status, headers, body };
}
