/**
 * The embedded Kubernetes API as one object: requests in, replies and changes out. It holds the state, decides with
 * what it was given (clock, draws, ranges) and tells its listeners of every change; it knows no sockets and no files.
 */
import type { Answer, ApiRequest, Change, Draws, HistoryEntry, Reply } from "./contract.ts";
import { servedResources } from "./registry.ts";
import type { Deciding } from "./resource.ts";
import { discover } from "./serve/discovery.ts";
import { openApi } from "./serve/openapi.ts";
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
  /** Told of changes before they are true, to write them down. */
  readonly record?: (changes: readonly Change[]) => void;
}

export interface ServerVersion {
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

  /** Answers a request; what it changed is true, and told to the listeners, when this returns. */
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

  /** Makes changes true that were decided on the present state. */
  commit(changes: readonly Change[]): void {
    if (changes.length > 0) this.#options.record?.(changes);
    for (const change of changes) {
      const entry = applyChange(this.state, change);
      for (const listener of this.#listeners) listener(entry);
    }
  }

  /** Calls the listener with every change from now on, until the returned function is called. */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Forgets all history: watches from older versions are refused with 410. */
  compact(): void {
    compact(this.state, this.state.revision);
  }

  get nowMs(): number {
    return this.#options.clock.nowMs();
  }

  /** What decisions made right now may look at. */
  deciding(): Deciding {
    const { draws, ranges } = this.#options;
    return { state: this.state, nowMs: this.nowMs, draws, ranges };
  }

  #decide(request: ApiRequest): Outcome {
    const route = parseRoute(request.path);
    if (route.kind === "resource") return serveResource(this.deciding(), request, route.target);
    return { reply: this.#page(route.path, request), changes: [] };
  }

  #page(path: string, request: ApiRequest): Answer {
    if (path === "/version") return { kind: "answer", status: 200, body: this.#options.version };
    if (["/healthz", "/readyz", "/livez"].includes(path)) {
      return { kind: "answer", status: 200, body: "ok", contentType: "text/plain" };
    }
    const resources = servedResources(this.state);
    const found = path.startsWith("/openapi") ? openApi(path, resources) : discover(path, request.accept, resources);
    return found ?? { kind: "answer", status: 404, body: "404 page not found\n", contentType: "text/plain" };
  }
}
