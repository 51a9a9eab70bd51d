/**
 * A transport whose other end is the test: it sees each request and answers piece by piece, or not at all.
 * Under a virtual clock everything that a server or a network can do wrong is one line.
 */
import type { Transport, WireRequest, WireResponse } from "../../src/kube/client/transport.ts";

/** One request in flight. */
export class Exchange {
  readonly request: WireRequest;
  readonly url: URL;
  readonly #respond: (response: WireResponse) => void;
  readonly #refuse: (error: unknown) => void;
  readonly #pieces: (Uint8Array | "end" | Error)[] = [];
  #wake = (): void => {};
  /** The client has let go of it: read to the end, left, or aborted. */
  closed = false;

  constructor(request: WireRequest, respond: (response: WireResponse) => void, refuse: (error: unknown) => void) {
    this.request = request;
    this.url = new URL(request.path, "https://api.test");
    this.#respond = respond;
    this.#refuse = refuse;
    request.signal.addEventListener("abort", () => this.fail(request.signal.reason as Error));
  }

  /** Sends the head of the answer; the body follows. */
  open(status = 200, headers: Record<string, string> = {}): this {
    this.#respond({ status, headers, body: this.#body() });
    return this;
  }

  send(text: string): this {
    this.#pieces.push(Buffer.from(text));
    this.#wake();
    return this;
  }

  line(value: unknown): this {
    return this.send(`${JSON.stringify(value)}\n`);
  }

  end(): void {
    this.#pieces.push("end");
    this.#wake();
  }

  /** The whole answer at once. */
  answer(status: number, value: unknown, headers: Record<string, string> = {}): void {
    this.open(status, headers).send(JSON.stringify(value)).end();
  }

  /** The connection breaks, before or within the answer. */
  fail(error: Error): void {
    this.closed = true;
    this.#refuse(error);
    this.#pieces.push(error);
    this.#wake();
  }

  async *#body(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        while (this.#pieces.length === 0) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
        const piece = this.#pieces.shift()!;
        if (piece === "end") return;
        if (piece instanceof Error) throw piece;
        yield piece;
      }
    } finally {
      this.closed = true;
    }
  }
}

export class ScriptedWire implements Transport {
  /** Every request so far, in order. */
  readonly exchanges: Exchange[] = [];
  readonly #answerAside: (exchange: Exchange) => boolean;

  /** `answerAside` returns whether it has answered the exchange, which is then none of the test's. */
  constructor(answerAside: (exchange: Exchange) => boolean = () => false) {
    this.#answerAside = answerAside;
  }

  send(request: WireRequest): Promise<WireResponse> {
    return new Promise((respond, refuse) => {
      const exchange = new Exchange(request, respond, refuse);
      if (!this.#answerAside(exchange)) this.exchanges.push(exchange);
    });
  }

  /** Still open on the client's side. */
  get open(): Exchange[] {
    return this.exchanges.filter((exchange) => !exchange.closed);
  }

  get last(): Exchange {
    const last = this.exchanges.at(-1);
    if (last === undefined) throw new Error("nothing was asked yet");
    return last;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
