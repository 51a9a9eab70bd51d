/**
 * Requests over HTTP/1.1 with connections kept alive: many at a time, each with its own deadline.
 * A private certificate authority is trusted besides the machine's own; a proxy is used as the usual environment
 * variables say, but never for the instance metadata service, which only the machine itself can reach.
 */
import { readFileSync } from "node:fs";
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";

import { Agent, EnvHttpProxyAgent, errors, request, type Dispatcher } from "undici";

import { NoAnswerError, type ArmRequest, type ArmResponse, type ArmTransport } from "./transport.ts";
import { memoText } from "../../core/util/memo.ts";
import { errorText } from "../../core/util/text.ts";

export interface HttpTransportOptions {
  /** PEM file with further certificate authorities. */
  readonly caFile?: string | undefined;
  /** `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are read, in either case. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly answerWithinMs?: number;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** Azure answers a PUT well inside a minute; what takes longer is an operation. */
const ANSWER_TIMEOUT_MS = 60_000;
const METADATA_SERVICE = "169.254.169.254";

export class HttpTransport implements ArmTransport {
  readonly #dispatcher: Dispatcher;
  readonly #answerWithinMs: number;

  constructor({ caFile, env = {}, answerWithinMs = ANSWER_TIMEOUT_MS }: HttpTransportOptions = {}) {
    this.#answerWithinMs = answerWithinMs;
    this.#dispatcher = dispatcherOf(caFile, env);
  }

  async send({ method, url, headers, body, signal }: ArmRequest): Promise<ArmResponse> {
    try {
      const answer = await request(url, {
        method,
        headers,
        body: body ?? null,
        dispatcher: this.#dispatcher,
        signal: signal ?? null,
        headersTimeout: this.#answerWithinMs,
        bodyTimeout: this.#answerWithinMs,
      });
      return { status: answer.statusCode, headers: plain(answer.headers), body: await answer.body.text() };
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw noAnswer(url, error);
    }
  }

  close(): Promise<void> {
    return this.#dispatcher.destroy();
  }
}

/** Made once for all connections: reading a hundred authorities anew costs some 30 ms. */
const contextOf = memoText((ca) => createSecureContext({ ca: [...getCACertificates("default"), ca] }), 2);

function trustOf(caFile: string | undefined): { secureContext?: SecureContext } {
  return caFile === undefined ? {} : { secureContext: contextOf(readFileSync(caFile, "utf8")) };
}

function dispatcherOf(caFile: string | undefined, env: HttpTransportOptions["env"] & object): Dispatcher {
  const connect = { ...trustOf(caFile), timeout: CONNECT_TIMEOUT_MS, keepAlive: true };
  const [httpsProxy, httpProxy, noProxy] = [
    valueOf(env, "HTTPS_PROXY"),
    valueOf(env, "HTTP_PROXY"),
    valueOf(env, "NO_PROXY"),
  ];
  if (httpsProxy === undefined && httpProxy === undefined) return new Agent({ connect, allowH2: false });
  return new EnvHttpProxyAgent({
    connect,
    requestTls: connect,
    allowH2: false,
    httpsProxy: httpsProxy ?? "",
    httpProxy: httpProxy ?? "",
    noProxy: [noProxy, METADATA_SERVICE].filter((part) => part !== undefined).join(","),
  });
}

function valueOf(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  return env[name] || env[name.toLowerCase()] || undefined;
}

function plain(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
  );
}

/** System and TLS codes that come up before a single byte of the request has left. */
const BEFORE_SENDING =
  /^(ECONNREFUSED|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_|ERR_TLS_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/;

function noAnswer(url: string, error: unknown): NoAnswerError {
  const code = codeOf(error);
  const timedOut = error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError;
  const cause = timedOut ? "it did not answer in time" : `${code || "connection failed"}: ${errorText(error)}`;
  return new NoAnswerError(`no answer from ${new URL(url).host}: ${cause}`, !BEFORE_SENDING.test(code), {
    cause: error,
  });
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}
