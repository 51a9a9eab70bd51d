/**
 * Requests over HTTPS/1.1 with whatever access the credentials give at that moment. When those change (a rotated
 * certificate, say) new requests use new connections and the old ones end with what they carry. A 401 makes the
 * credentials look again, once per request. Sets no timeouts but that of connecting: quiet watches are healthy,
 * and who waits too long aborts.
 */
import { createSecureContext } from "node:tls";

import { Agent, ProxyAgent, request, type Dispatcher } from "undici";

import { unlessAborted } from "../../core/util/clock.ts";
import type { Access, Credentials } from "./credentials.ts";
import type { Transport, WireRequest, WireResponse } from "./transport.ts";

const CONNECT_TIMEOUT_MS = 10_000;

export class HttpTransport implements Transport {
  readonly #server: URL;
  readonly #credentials: Credentials;
  readonly #retired = new Set<Promise<void>>();
  #connections: { readonly tls: Access["tls"]; readonly dispatcher: Dispatcher } | undefined;

  constructor(credentials: Credentials) {
    this.#server = new URL(credentials.server);
    this.#credentials = credentials;
  }

  async send(wire: WireRequest): Promise<WireResponse> {
    const access = await this.#access(wire.signal);
    const response = await this.#sendOnce(wire, access);
    if (response.status !== 401 || !this.#credentials.renew(access)) return response;
    for await (const _ of response.body) {
      // read to its end, so that the connection is free again
    }
    return this.#sendOnce(wire, await this.#access(wire.signal));
  }

  /** A plugin may take its time; the request has less. */
  #access(signal: AbortSignal): Promise<Access> {
    return unlessAborted(() => this.#credentials.access(), signal);
  }

  async close(): Promise<void> {
    const dispatcher = this.#connections?.dispatcher;
    this.#connections = undefined;
    await Promise.allSettled([dispatcher?.destroy(), ...this.#retired]);
  }

  async #sendOnce(wire: WireRequest, access: Access): Promise<WireResponse> {
    const prefix = this.#server.pathname.replace(/\/$/, "");
    const { statusCode, headers, body } = await request(`${this.#server.origin}${prefix}${wire.path}`, {
      method: wire.method,
      headers: { ...wire.headers, ...access.headers },
      body: wire.body ?? null,
      signal: wire.signal,
      dispatcher: this.#dispatcherFor(access.tls),
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const plain = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]);
    return { status: statusCode, headers: Object.fromEntries(plain), body };
  }

  #dispatcherFor(tls: Access["tls"]): Dispatcher {
    if (this.#connections?.tls === tls) return this.#connections.dispatcher;
    if (this.#connections !== undefined) this.#retire(this.#connections.dispatcher);
    this.#connections = { tls, dispatcher: this.#connect(tls) };
    return this.#connections.dispatcher;
  }

  #retire(dispatcher: Dispatcher): void {
    const closed = dispatcher.close().finally(() => this.#retired.delete(closed));
    this.#retired.add(closed);
  }

  #connect(tls: Access["tls"]): Dispatcher {
    const { ca, cert, key, ...rest } = tls;
    const secureContext = createSecureContext({ ca, cert, key }); // once, not per connection
    const patience = { timeout: CONNECT_TIMEOUT_MS, keepAlive: true, keepAliveInitialDelay: 30_000 };
    const connect = { ...rest, ...patience, secureContext };
    const { proxyUrl } = this.#credentials;
    // HTTP/1.1: one stuck connection then holds up one watch, not all of them.
    if (proxyUrl === undefined) return new Agent({ connect, allowH2: false });
    return new ProxyAgent({ uri: proxyUrl, requestTls: connect, allowH2: false });
  }
}
