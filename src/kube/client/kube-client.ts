/**
 * Raw JSON to and from the Kubernetes API: nothing is dropped on the way, because nothing is modelled. Every call
 * ends within a deadline of the handed-in clock, and fails with a `KubeFailure` (or the reason of the caller's
 * signal). It never retries: what a failure means is the caller's to decide.
 */
import type { Clock } from "../../core/util/clock.ts";
import { CancelScope, type Transport, type WireRequest, type WireResponse, textOf } from "./transport.ts";
import type { Fence } from "../election/lease.ts";
import { failureOfError, failureOfStatus, KubeFailure, retryAfterMsOf, statusOf } from "./kube-failure.ts";
import {
  patchBody,
  type Patch,
  type Preconditions,
  apiVersionOf,
  resourcePath,
  type KubeObject,
  type Place,
  type Resource,
} from "./resources.ts";

export interface Selection {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

export interface KubeClientOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly userAgent?: string;
  readonly timeoutMs?: number;
  /** When given, no write leaves unless it holds, and those under way end when it is lost. */
  readonly fence?: Fence;
  readonly onRequest?: (sample: RequestSample) => void;
}

/** One finished request, for metrics. */
export interface RequestSample {
  readonly method: string;
  readonly plural: string;
  /** `0`: no answer came. */
  readonly status: number;
  readonly durationMs: number;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

interface Call {
  readonly method: WireRequest["method"];
  readonly resource: Resource;
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly signal?: AbortSignal | undefined;
}

interface RawRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const PROXIED: Resource = { group: "", version: "v1", plural: "proxied", kind: "Proxied", namespaced: false };

/** The calls that only read. */
export type KubeReader = Pick<KubeClient, "get" | "list" | "listPages" | "watch">;

/** Answers to failures are short; a proxy's page of HTML need not be read to its end. */
const LONGEST_FAILURE_BYTES = 1 << 20;
const PAGE_SIZE = 500;

export class KubeClient {
  readonly #options: KubeClientOptions;

  constructor(options: KubeClientOptions) {
    this.#options = options;
  }

  /** The same client, whose writes need the lease. */
  fencedBy(fence: Fence): KubeClient {
    return new KubeClient({ ...this.#options, fence });
  }

  get<T extends KubeObject>(resource: Resource, place: Place, signal?: AbortSignal): Promise<T> {
    return this.#json<T>({ method: "GET", resource, path: resourcePath(resource, place), signal });
  }

  /** Everything that matches, as one consistent snapshot, read page by page. */
  async list<T extends KubeObject>(resource: Resource, selection: Selection, signal?: AbortSignal): Promise<Page<T>> {
    const items: T[] = [];
    let resourceVersion = "";
    for await (const page of this.listPages<T>(resource, selection, signal)) {
      for (const item of page.items) items.push(item);
      resourceVersion = page.resourceVersion;
    }
    return { items, resourceVersion };
  }

  /** The pages of one snapshot; fails as `gone` when that is compacted before the last. */
  async *listPages<T extends KubeObject>(
    resource: Resource,
    { namespace, ...selectors }: Selection,
    signal?: AbortSignal,
    limit = PAGE_SIZE,
  ): AsyncGenerator<Page<T>> {
    const path = resourcePath(resource, { namespace });
    let token: string | undefined;
    do {
      const query = { ...selectors, limit, continue: token };
      const list = await this.#json<KubeList<T>>({ method: "GET", resource, path, query, signal });
      if (!Array.isArray(list.items) || typeof list.metadata?.resourceVersion !== "string") {
        throw new KubeFailure("transient", `GET ${path}: the answer is no list`);
      }
      // Items of built-in lists come without kind and apiVersion, those of a watch with them.
      const named = { apiVersion: apiVersionOf(resource), kind: resource.kind };
      yield {
        items: list.items.map((item) => ({ ...named, ...item })),
        resourceVersion: list.metadata.resourceVersion,
      };
      token = list.metadata.continue || undefined;
    } while (token !== undefined);
  }

  create<T extends KubeObject>(resource: Resource, body: NewObject, signal?: AbortSignal): Promise<T> {
    const path = resourcePath(resource, { namespace: body.metadata.namespace });
    return this.#json<T>({ method: "POST", resource, path, body: this.#named(resource, body), signal });
  }

  /** PUT: for objects that the caller owns whole, such as Leases. A stale `resourceVersion` in the body is a `conflict`. */
  replace<T extends KubeObject>(resource: Resource, body: NewObject, signal?: AbortSignal): Promise<T> {
    const path = resourcePath(resource, { namespace: body.metadata.namespace, name: body.metadata.name });
    return this.#json<T>({ method: "PUT", resource, path, body: this.#named(resource, body), signal });
  }

  patch<T extends KubeObject>(
    resource: Resource,
    place: Place,
    patch: Patch,
    only: Preconditions = {},
    signal?: AbortSignal,
  ): Promise<T> {
    const path = resourcePath(resource, place);
    return this.#json<T>({ method: "PATCH", resource, path, ...patchBody(patch, only), signal });
  }

  /** As `patch`, up to and with admission; the server stores nothing. */
  async rehearsePatch(resource: Resource, place: Place, patch: Patch, signal?: AbortSignal): Promise<void> {
    const [path, query] = [resourcePath(resource, place), { dryRun: "All" }];
    await this.#json<unknown>({ method: "PATCH", resource, path, query, ...patchBody(patch, {}), signal });
  }

  async delete(resource: Resource, place: Place, only: Preconditions = {}, signal?: AbortSignal): Promise<void> {
    const body = { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: "Background", preconditions: only };
    await this.#json<unknown>({ method: "DELETE", resource, path: resourcePath(resource, place), body, signal });
  }

  /** What a server behind the API server's proxy answers, or a subresource, whatever the status. */
  async proxied({ method, path, headers = {}, body }: RawRequest): Promise<{ status: number; text: string }> {
    const { clock, transport, timeoutMs = 30_000 } = this.#options;
    using scope = new CancelScope();
    const timer = clock.setTimer(timeoutMs, () => scope.abort(new Error(`no full answer within ${timeoutMs} ms`)));
    try {
      const call: Call = { method, resource: PROXIED, path, body };
      const request = this.#wireRequest(call, scope.signal);
      const response = await transport.send({ ...request, headers: { ...request.headers, ...headers } });
      return { status: response.status, text: await textOf(response.body) };
    } catch (error) {
      throw scope.signal.aborted ? scope.signal.reason : failureOfError(`${method} ${path}`, error);
    } finally {
      timer.cancel();
    }
  }

  /** Opens a watch and hands over its bytes; deadlines are the reader's, who aborts the signal. */
  async watch(resource: Resource, query: Query, place: Place, signal: AbortSignal): Promise<WireResponse["body"]> {
    const path = resourcePath(resource, place);
    const call: Call = { method: "GET", resource, path, query: { ...query, watch: "true" } };
    const what = nameOf(call);
    try {
      const response = await this.#options.transport.send(this.#wireRequest(call, signal));
      if (response.status !== 200) throw await this.#refusal(what, response);
      return response.body;
    } catch (error) {
      throw signal.aborted ? signal.reason : failureOfError(what, error);
    }
  }

  #named(resource: Resource, body: object): object {
    return { apiVersion: apiVersionOf(resource), kind: resource.kind, ...body };
  }

  async #json<T>(call: Call): Promise<T> {
    const fence = call.method === "GET" ? undefined : this.#options.fence;
    fence?.check();
    using scope = new CancelScope(call.signal, fence?.signal);
    const { clock, timeoutMs = 30_000 } = this.#options;
    const what = nameOf(call);
    const late = (): KubeFailure => new KubeFailure("transient", `${what}: no full answer within ${timeoutMs} ms`);
    const timer = clock.setTimer(timeoutMs, () => scope.abort(late())); // made when needed: a stack trace costs
    const startMs = clock.monotonicMs();
    let status = 0;
    try {
      const response = await this.#options.transport.send(this.#wireRequest(call, scope.signal));
      status = response.status;
      if (status < 200 || status > 299) throw await this.#refusal(what, response);
      return JSON.parse(await textOf(response.body)) as T;
    } catch (error) {
      if (scope.signal.aborted) throw scope.signal.reason;
      throw failureOfError(what, error);
    } finally {
      timer.cancel();
      const sample = { method: call.method, plural: call.resource.plural, status };
      this.#options.onRequest?.({ ...sample, durationMs: clock.monotonicMs() - startMs });
    }
  }

  #wireRequest(call: Call, signal: AbortSignal): WireRequest {
    const headers: Record<string, string> = {
      accept: "application/json",
      "user-agent": this.#options.userAgent ?? "azlb",
    };
    if (call.body !== undefined) headers["content-type"] = call.contentType ?? "application/json";
    return {
      method: call.method,
      path: `${call.path}${queryString(call.query)}`,
      headers,
      body: call.body === undefined ? undefined : JSON.stringify(call.body),
      signal,
    };
  }

  async #refusal(what: string, response: WireResponse): Promise<KubeFailure> {
    const text = await textOf(response.body, LONGEST_FAILURE_BYTES);
    const retryAfterMs = retryAfterMsOf(response.headers["retry-after"], this.#options.clock.nowMs());
    return failureOfStatus(what, response.status, statusOf(text), retryAfterMs);
  }
}

/** An object to be stored: the server fills in the rest of the metadata. */
export interface NewObject {
  readonly metadata: {
    readonly name?: string;
    readonly generateName?: string;
    readonly namespace?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly ownerReferences?: readonly object[];
  };
  readonly [field: string]: unknown;
}

interface KubeList<T> {
  readonly items?: readonly T[];
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
}

function nameOf(call: Call): string {
  return `${call.method} ${call.path}`;
}

function queryString(query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? "" : `?${search.toString()}`;
}
