/**
 * An HTTPS server between a client and the real one, which passes requests on and may answer with something else than
 * was said. Streams pass line by line as they come.
 */
import { createServer, request as httpsRequest, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { openCertificateAuthority } from "../../sandbox/shared/certificate-authority.ts";

export interface Asked {
  readonly method: string;
  readonly path: string;
}

export interface Answered extends Asked {
  readonly status: number;
}

/** What is said instead of this body, or of this line of a stream. */
export type Lie = (text: string, asked: Asked) => string;

export class LyingProxy {
  readonly url: string;
  /** `undefined`: the truth. */
  lie: Lie | undefined;
  /** Answers and lines that were changed. */
  lies = 0;
  /** Writes that were answered, in the order of the answers. */
  readonly writes: Answered[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** `pki`: the directory of the authority that the client trusts. */
  static async before(target: string, pki: string): Promise<LyingProxy> {
    const { certPem, keyPem } = await (await openCertificateAuthority(pki)).issueServer();
    let proxy: LyingProxy | undefined;
    const ca = (await openCertificateAuthority(pki)).caPem;
    const server = createServer({ cert: certPem, key: keyPem }, (message, response) => {
      const { port } = new URL(target);
      const { method, url: path, headers } = message;
      const onward = httpsRequest({ host: "127.0.0.1", port, method, path, headers, ca }, (answer) => {
        void proxy?.pass({ method: method ?? "", path: path ?? "" }, answer, response);
      });
      onward.on("error", () => response.destroy());
      response.on("close", () => onward.destroy());
      message.pipe(onward);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    proxy = new LyingProxy(server);
    return proxy;
  }

  async pass(asked: Asked, answer: IncomingMessage, response: ServerResponse): Promise<void> {
    const { "content-length": _length, "transfer-encoding": _encoding, ...headers } = answer.headers;
    const status = answer.statusCode ?? 500;
    if (asked.method !== "GET") this.writes.push({ ...asked, status });
    response.writeHead(status, headers);
    const isStream = asked.path.includes("watch=");
    let held = "";
    try {
      for await (const chunk of answer.setEncoding("utf8")) {
        held += String(chunk);
        const lines = isStream ? held.split("\n") : [held];
        held = lines.pop() ?? "";
        for (const line of lines) response.write(`${this.#said(line, asked)}\n`);
      }
      response.end(held === "" && isStream ? "" : this.#said(held, asked));
    } catch {
      response.destroy();
    }
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  #said(text: string, asked: Asked): string {
    const said = this.lie?.(text, asked) ?? text;
    if (said !== text) this.lies++;
    return said;
  }
}
