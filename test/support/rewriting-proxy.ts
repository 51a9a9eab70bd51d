/**
 * An HTTPS proxy between a client and a server. It passes requests on unchanged and may rewrite the answers; streams are
 * rewritten line by line as they arrive.
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

/** The text that the client gets instead of this body, or of this line of a stream. */
export type Rewrite = (text: string, asked: Asked) => string;

export class RewritingProxy {
  readonly url: string;
  /** `undefined`: answers pass unchanged. */
  rewrite: Rewrite | undefined;
  /** Answers and lines that were changed so far. */
  rewrites = 0;
  /** Writes that were answered, in the order of the answers. */
  readonly writes: Answered[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** `pki`: the directory of the authority that the client trusts. */
  static async before(target: string, pki: string): Promise<RewritingProxy> {
    const { certPem, keyPem } = await (await openCertificateAuthority(pki)).issueServer();
    let proxy: RewritingProxy | undefined;
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
    proxy = new RewritingProxy(server);
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
        for (const line of lines) response.write(`${this.#rewritten(line, asked)}\n`);
      }
      response.end(held === "" && isStream ? "" : this.#rewritten(held, asked));
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

  #rewritten(text: string, asked: Asked): string {
    const sent = this.rewrite?.(text, asked) ?? text;
    if (sent !== text) this.rewrites++;
    return sent;
  }
}
