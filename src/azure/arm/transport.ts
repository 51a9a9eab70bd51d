/**
 * The wire to Azure, as the client asks for it: one request, one whole answer. Knows nothing of ARM.
 * `http-transport.ts` is the real one; tests and simulations bring their own.
 */

export interface ArmRequest {
  readonly method: "GET" | "HEAD" | "PUT" | "PATCH" | "POST" | "DELETE";
  /** Absolute. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ArmResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

export interface ArmTransport {
  /** Every status is an answer. Rejects with `NoAnswerError` when none came, with the signal's reason when aborted. */
  send(request: ArmRequest): Promise<ArmResponse>;
  close(): Promise<void>;
}

/** No answer came. The message names the host and the cause, never headers or bodies. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
  /** False only where the request surely never reached the server: it may be sent again without a look. */
  readonly maybeSent: boolean;

  constructor(message: string, maybeSent: boolean, options?: ErrorOptions) {
    super(message, options);
    this.maybeSent = maybeSent;
  }
}
