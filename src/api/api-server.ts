/**
 * The HTTP server of the read-only API and of the page. It serves TLS, except on loopback where it is told not to; it answers
 * GET alone, besides the switches of a sandbox; and it says what a browser may do with its answers: run its own scripts, and
 * speak to it alone. A caller is asked for its rights (`authorizer.ts`) before anything is looked up. The page's files
 * hold no data, so that they are given to every client.
 */
import { createServer as createPlain, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecure } from "node:https";
import type { AddressInfo } from "node:net";

import type { Log } from "../core/util/log.ts";
import { errorText } from "../core/util/text.ts";
import type { LiveView } from "./api-source.ts";
import type { Admission, Authorizer, Scope } from "./authorizer.ts";
import type { KeyPair } from "./certificate.ts";
import { stream } from "./event-stream.ts";
import { forward, FORWARDED, type LeaderApi } from "./forward.ts";
import { OPENAPI } from "./openapi.ts";
import { ApiError, findRoute, overviewOf, type Route } from "./routes.ts";

export interface ApiOptions {
  readonly host: string;
  /** `0`: any free one. */
  readonly port: number;
  readonly live: LiveView;
  readonly authorizer: Authorizer;
  /** `undefined`: without TLS, for a sandbox on loopback. */
  readonly keys: KeyPair | undefined;
  /** Where the process that leads is to be asked; absent or `undefined`: not known. */
  readonly leaderApi?: (() => LeaderApi | undefined) | undefined;
  /** The page's files by path, as in `/app.js`. */
  readonly files: ReadonlyMap<string, PageFile>;
  /** Of a sandbox: what its page may do besides looking. */
  readonly switches?: Switches | undefined;
  readonly log: Log;
}

export interface PageFile {
  readonly type: string;
  readonly body: string | Uint8Array;
}

export interface Switches {
  list(): Promise<unknown>;
  /** Throws an `ApiError` for what is asked wrongly. */
  flip(body: unknown): Promise<unknown>;
}

export interface RunningApi {
  readonly url: string;
  /** Takes another certificate from now on. */
  renew(keys: KeyPair): void;
  close(): Promise<void>;
}

const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
} as const;

const MOST_CONNECTIONS = 500;
const MOST_STREAMS = 100;
const LONGEST_BODY = 10_000;
const VIEWS_PATH = "/api/v1/";
const STREAM_PATH = "/api/v1/changes";
const SWITCHES_PATH = "/api/v1/sandbox/switches";

export async function startApi(options: ApiOptions): Promise<RunningApi> {
  const service = new ApiService(options);
  const handle = (request: IncomingMessage, response: ServerResponse): void => void service.answer(request, response);
  const limits = { requestTimeout: 30_000, headersTimeout: 10_000, maxHeaderSize: 32_768 };
  const { keys } = options;
  const secure = keys && createSecure({ ...limits, ...keys, minVersion: "TLSv1.2" }, handle);
  const server: Server = secure ?? createPlain(limits, handle);
  server.maxConnections = MOST_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    url: `${keys === undefined ? "http" : "https"}://${host}:${port}`,
    renew: (renewed) => secure?.setSecureContext({ ...renewed, minVersion: "TLSv1.2" }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

class ApiService {
  readonly #options: ApiOptions;
  #streams = 0;

  constructor(options: ApiOptions) {
    this.#options = options;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    try {
      await this.#answer(request, response);
    } catch (error) {
      const status = error instanceof ApiError ? error.status : 503;
      if (!(error instanceof ApiError)) this.#options.log.warn(`API: ${errorText(error)}`);
      if (!response.headersSent) json(response, status, { error: errorText(error) });
      else response.destroy();
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { files, keys, switches } = this.#options;
    if (keys === undefined && !isLocal(request.headers.host))
      throw new ApiError(421, "this address is for loopback only");
    const url = new URL(request.url ?? "/", "http://api");
    const path = url.pathname;
    if (path === SWITCHES_PATH && switches !== undefined) return this.#switch(switches, request, response);
    // the page asks in any case, and an error would stand in the browser's console
    if (path === SWITCHES_PATH && request.method === "GET") return json(response, 200, { items: [] });
    if (request.method !== "GET" && request.method !== "HEAD")
      throw new ApiError(405, "this API is read-only: GET alone");
    if (path === "/openapi.json") return json(response, 200, OPENAPI);
    if (path.startsWith(VIEWS_PATH) && (await this.#forward(request, response))) return undefined;
    if (path === STREAM_PATH) return this.#stream(request, response, url.searchParams);
    const found = findRoute(path);
    if (found !== undefined) return json(response, 200, await this.#view(request, url.searchParams, found));
    const file = files.get(path === "/" ? "/index.html" : path);
    if (file === undefined) throw new ApiError(404, `there is no ${path}; /openapi.json says what there is`);
    response.writeHead(200, { "content-type": file.type, "cache-control": "no-cache" }).end(file.body);
  }

  /** False: this process leads, or no leader is known to ask instead. */
  async #forward(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { live, leaderApi } = this.#options;
    const leader = live.source.leader().leads || FORWARDED in request.headers ? undefined : leaderApi?.();
    if (leader === undefined) return false;
    try {
      await forward(leader, request, response);
    } catch (error) {
      throw new ApiError(503, `${notLeading(live)} (it did not answer here: ${errorText(error)})`);
    }
    return true;
  }

  async #view(
    request: IncomingMessage,
    query: URLSearchParams,
    { route, parts }: { readonly route: Route; readonly parts: readonly string[] },
  ): Promise<unknown> {
    const { live, authorizer } = this.#options;
    const scope = route.scope({ parts, query });
    const token = tokenOf(request);
    await this.#demand(token, scope);
    const seesAll = scope.namespace === undefined || (await authorizer.admit(token, {})) === "granted";
    const { picture } = live;
    if (!route.needsLeader) return route.answer(live, { parts, query, seesAll }, picture!);
    if (picture === undefined) throw new ApiError(503, notLeading(live));
    return route.answer(live, { parts, query, seesAll }, picture);
  }

  /** Throws unless the cluster lets the caller see that. */
  async #demand(token: string | undefined, scope: Scope): Promise<void> {
    const admission: Admission = await this.#options.authorizer.admit(token, scope).catch((error: unknown) => {
      throw new ApiError(503, `the cluster could not be asked who you are: ${errorText(error)}`);
    });
    if (admission === "granted") return;
    if (admission === "unauthenticated") throw new ApiError(401, UNAUTHENTICATED);
    if (admission === "busy") throw new ApiError(429, "too many tokens are being checked: try again");
    throw new ApiError(403, `you may not ${scopeText(scope)}`);
  }

  /** The overview; or one Service, where the caller asks for it. */
  async #stream(request: IncomingMessage, response: ServerResponse, query: URLSearchParams): Promise<void> {
    const { live, authorizer } = this.#options;
    const key = query.get("service");
    const found = key === null ? undefined : findRoute(`/api/v1/services/${key}`);
    if (key !== null && found === undefined) throw new ApiError(400, `service is "${key}"; it must be NAMESPACE/NAME`);
    if (found === undefined) await this.#demand(tokenOf(request), {});
    else await this.#view(request, query, found);
    if (this.#streams >= MOST_STREAMS) throw new ApiError(503, `there are ${MOST_STREAMS} streams already`);
    const view = (): unknown => {
      if (found === undefined) return overviewOf(live);
      const { picture } = live;
      if (picture === undefined) return { error: notLeading(live) };
      try {
        return found.route.answer(live, { parts: found.parts, query, seesAll: false }, picture);
      } catch (error) {
        return { error: errorText(error) };
      }
    };
    this.#streams += 1;
    await stream({ live, response, view, lastsMs: authorizer.lastsMs }).finally(() => (this.#streams -= 1));
  }

  /** A page of another origin can neither read the list nor send JSON. */
  async #switch(switches: Switches, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "GET") return json(response, 200, await switches.list());
    const { origin, host } = request.headers;
    const isOwn = origin === undefined || origin === `http://${host}`;
    if (request.method !== "POST" || !isOwn || request.headers["content-type"] !== "application/json") {
      throw new ApiError(403, "switches are flipped by POST of JSON, from this page");
    }
    let text = "";
    for await (const chunk of request) {
      text += String(chunk);
      if (text.length > LONGEST_BODY) throw new ApiError(413, "that is too long");
    }
    json(response, 200, await switches.flip(parsed(text)));
  }
}

const UNAUTHENTICATED =
  "a token for the audience azlb is needed, in the header X-Azlb-Token: kubectl create token SERVICEACCOUNT --audience azlb";

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(400, "the body is no JSON");
  }
}

/** The API server's proxy takes `Authorization` away, so there is a header of our own. */
function tokenOf({ headers }: IncomingMessage): string | undefined {
  const own = headers["x-azlb-token"];
  if (typeof own === "string") return own.trim();
  return /^Bearer (.+)$/i.exec(headers.authorization ?? "")?.[1]?.trim();
}

function notLeading({ source }: LiveView): string {
  const { holder } = source.leader();
  return holder === "" ? "no process leads yet: try again" : `${holder} leads, and this process waits: ask that one`;
}

function scopeText({ namespace, name }: Scope): string {
  if (namespace === undefined) return "list services in the whole cluster, which the whole view needs";
  return name === undefined ? `list services in namespace ${namespace}` : `get services ${namespace}/${name}`;
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(`${JSON.stringify(body)}\n`);
}

/** Another name that leads to loopback may be a trick on a browser of this machine. */
function isLocal(host: string | undefined): boolean {
  return /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/.test(host ?? "");
}
