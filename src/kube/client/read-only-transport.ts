/** A wire to Kubernetes that cannot write: whatever asks for another method than GET fails before it leaves. */
import type { Transport, WireRequest, WireResponse } from "./transport.ts";

export class ReadOnlyTransport implements Transport {
  readonly #inner: Transport;

  constructor(inner: Transport) {
    this.#inner = inner;
  }

  async send(request: WireRequest): Promise<WireResponse> {
    if (request.method !== "GET") throw new Error(`${request.method} ${request.path}: this process only reads`);
    return this.#inner.send(request);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
