/**
 * Requests over HTTPS/1.1 with Node's own client, for a process that sends one now and then and must be small: the agent
 * (`http-transport.ts` is faster and costs ten megabytes more). A 401 makes the credentials look again, once per request.
 * Each request has a connection of its own; proxies are not supported.
 */
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";

import type { Access, Credentials } from "./credentials.ts";
import type { Transport, WireRequest, WireResponse } from "./transport.ts";

export class LightTransport implements Transport {
  readonly #credentials: Credentials;

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  async send(wire: WireRequest): Promise<WireResponse> {
    const access = await this.#credentials.access();
    const response = await this.#sendOnce(wire, access);
    if (response.statusCode !== 401 || !this.#credentials.renew(access)) return answerOf(response);
    response.resume();
    return answerOf(await this.#sendOnce(wire, await this.#credentials.access()));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #sendOnce({ method, path, headers, body, signal }: WireRequest, access: Access): Promise<IncomingMessage> {
    const { server } = this.#credentials;
    const url = new URL(server.replace(/\/$/, "") + path);
    const { ca, cert, key, servername } = access.tls;
    const options = { method, headers: { ...headers, ...access.headers }, signal, agent: false as const };
    return new Promise((resolve, reject) => {
      const call =
        url.protocol === "https:"
          ? httpsRequest(url, { ...options, ca, cert, key, ...(servername !== undefined && { servername }) }, resolve)
          : httpRequest(url, options, resolve);
      call.on("error", reject);
      call.end(body);
    });
  }
}

function answerOf(message: IncomingMessage): WireResponse {
  const headers = Object.entries(message.headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value[0] : value,
  ]);
  return { status: message.statusCode ?? 0, headers: Object.fromEntries(headers), body: message };
}
