/** A wire to Azure Resource Manager that cannot write: whatever asks for another method than GET or HEAD fails before it leaves. */
import type { ArmRequest, ArmResponse, ArmTransport } from "./transport.ts";

export class ReadOnlyTransport implements ArmTransport {
  readonly #inner: ArmTransport;

  constructor(inner: ArmTransport) {
    this.#inner = inner;
  }

  async send(request: ArmRequest): Promise<ArmResponse> {
    const { method, url } = request;
    if (method !== "GET" && method !== "HEAD") throw new Error(`${method} ${url}: this process only reads`);
    return this.#inner.send(request);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
