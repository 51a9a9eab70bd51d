/**
 * The embedded Kubernetes API as an object: it holds the state, answers requests, commits changes and notifies its
 * listeners. Clock, randomness and ranges are passed in; sockets and files are left to the server.
 */
import { checkAccess } from "./access/check-access.ts";
import type { Answer, ApiRequest, Change, Draws, HistoryEntry, Reply, TokenAuthority } from "./contract.ts";
import { servedResources } from "./registry.ts";
import type { DecisionContext } from "./resource.ts";
import { discover } from "./serve/discovery.ts";
import { openApi } from "./serve/openapi.ts";
import { openApiV2 } from "./serve/openapi-v2.ts";
import { parseRoute } from "./serve/route.ts";
import { type Outcome, serveResource } from "./serve/verbs.ts";
import type { ServiceRanges } from "./service-ranges.ts";
import { applyChange, compact, newState, type State } from "./state.ts";
import { StatusError } from "./status-error.ts";

export interface ApiOptions {
  readonly clock: { nowMs(): number };
  readonly draws: Draws;
  readonly ranges: ServiceRanges;
  readonly version: ServerVersion;
  /** Without one, service accounts get no tokens. */
  readonly tokens?: TokenAuthority;
  /** Called with changes before they are applied, to journal them. */
  readonly record?: (changes: readonly Change[]) => void;
}

interface ServerVersion {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
}

export type ChangeListener = (entry: HistoryEntry) => void;

export class EmbeddedApi {
  readonly state: State = newState();
  readonly #options: ApiOptions;
  readonly #listeners = new Set<ChangeListener>();

  constructor(options: ApiOptions) {
    this.#options = options;
  }

  /** Answers a request. Its changes are applied, and the listeners notified, when this returns. */
  request(request: ApiRequest): Reply {
    try {
      const { reply, changes } = this.#decide(request);
      this.commit(changes);
      return reply;
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return { kind: "answer", status: error.code, body: error.toStatus() };
    }
  }

  /** Journals and applies changes that were decided on the current state. */
  commit(changes: readonly Change[]): void {
    if (changes.length > 0) this.#options.record?.(changes);
    for (const change of changes) {
      const entry = applyChange(this.state, change);
      for (const listener of this.#listeners) listener(entry);
    }
  }

  /** Calls the listener with every change until the returned function is called. */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Drops all history: watches from older versions are refused with 410. */
  compact(): void {
    compact(this.state, this.state.revision);
  }

  get nowMs(): number {
    return this.#options.clock.nowMs();
  }

  /** The inputs of a decision made now. */
  decisionContext(): DecisionContext {
    const { draws, ranges, tokens } = this.#options;
    return { state: this.state, nowMs: this.nowMs, draws, ranges, ...(tokens === undefined ? {} : { tokens }) };
  }

  #decide(request: ApiRequest): Outcome {
    const route = parseRoute(request.path);
    checkAccess(this.state, request, route);
    if (route.kind === "resource") return serveResource(this.decisionContext(), request, route.target);
    return { reply: this.#page(route.path, request), changes: [] };
  }

  #page(path: string, request: ApiRequest): Answer {
    if (path === "/version") return { kind: "answer", status: 200, body: this.#options.version };
    if (["/healthz", "/readyz", "/livez"].includes(path)) {
      return { kind: "answer", status: 200, body: "ok", contentType: "text/plain" };
    }
    const resources = servedResources(this.state);
    if (path === "/openapi/v2") return openApiV2(request.accept, resources, this.#options.version.gitVersion);
    const found = path.startsWith("/openapi") ? openApi(path, resources) : discover(path, request.accept, resources);
    return found ?? { kind: "answer", status: 404, body: "404 page not found\n", contentType: "text/plain" };
  }
}
