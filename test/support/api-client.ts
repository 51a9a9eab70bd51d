/** A client of the read-only API, as a program of a user is one: HTTP, a token in a header, server-sent events. */
import assert from "node:assert/strict";

import { Agent, fetch as fetchBy } from "undici";

export interface ApiAnswer {
  readonly status: number;
  readonly text: string;
  readonly headers: ReadonlyMap<string, string>;
}

export interface ApiStream {
  /** The first view that fits, also one that has come already. */
  until<View>(fits: (view: View) => boolean): Promise<View>;
  close(): void;
}

const WITHIN_MS = 60_000;

export interface ApiClientOptions {
  readonly token?: string;
  /** Whose certificates are believed. */
  readonly ca?: string;
}

export class ApiClient {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #dispatcher: Agent;

  constructor(url: string, { token, ca }: ApiClientOptions = {}) {
    this.#url = url;
    this.#headers = token === undefined ? {} : { "x-azlb-token": token };
    this.#dispatcher = new Agent(ca === undefined ? {} : { connect: { ca } });
  }

  async answer(path: string, headers: Readonly<Record<string, string>> = {}): Promise<ApiAnswer> {
    const response = await this.#fetch(path, AbortSignal.timeout(WITHIN_MS), headers);
    return { status: response.status, text: await response.text(), headers: new Map(response.headers) };
  }

  async get<View>(path: string): Promise<View> {
    const { status, text } = await this.answer(path);
    assert.equal(status, 200, `${path}: ${text}`);
    return JSON.parse(text) as View;
  }

  async stream(path: string): Promise<ApiStream> {
    const ending = new AbortController();
    const { body } = await this.#fetch(path, AbortSignal.any([ending.signal, AbortSignal.timeout(WITHIN_MS)]), {});
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    return {
      async until<View>(fits: (view: View) => boolean): Promise<View> {
        for (;;) {
          const { value, done } = await reader.read();
          if (done) throw new Error("the stream has ended");
          text += value;
          const events = text.split("\n\n");
          text = events.pop() ?? "";
          for (const event of events) {
            const data = /^data: (.*)$/m.exec(event)?.[1];
            if (data === undefined || !event.startsWith("event: view")) continue;
            const view = JSON.parse(data) as View;
            if (fits(view)) return view;
          }
        }
      },
      close: () => ending.abort(),
    };
  }

  #fetch(path: string, signal: AbortSignal, headers: Readonly<Record<string, string>>): ReturnType<typeof fetchBy> {
    return fetchBy(`${this.#url}${path}`, {
      headers: { ...this.#headers, ...headers },
      signal,
      dispatcher: this.#dispatcher,
    });
  }
}
