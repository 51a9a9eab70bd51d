/**
 * One process's wire to Kubernetes. Lists of nodes may be stale where a trouble says so: a server whose cache lags answers
 * with the state of a while ago, and goes on from there. Services are not listed so: we ask without a version, which the
 * API promises to answer as of now, and what a Service has in Azure rests on that promise.
 */
import type { Transport, WireRequest, WireResponse } from "../../src/kube/client/transport.ts";
import type { Answer, ApiRequest, KubeObject, Reply, WatchFrame } from "../../sandbox/kubernetes/model/contract.ts";
import { note } from "./arm-transport.ts";
import type { ClusterSide } from "../environment/simulated-kubernetes.ts";
import type { Trace } from "../environment/trace.ts";
import type { CallKind, Trouble } from "./faults.ts";
import { WatchFeed } from "./watch-stream.ts";
import { travel, type WireOptions } from "./network.ts";

export interface KubeWireOptions extends WireOptions {
  readonly cluster: ClusterSide;
  readonly trace: Trace;
  readonly onFeed: (feed: WatchFeed) => void;
  readonly onTold: (collection: string, revision: number) => void;
}

/** The election's own Lease; other leases are like any object. */
export const ELECTION_LEASE = "azlb-controller";
/** How many versions a stale answer may be behind. */
const MOST_STALE = 30;

export class KubeWire implements Transport {
  readonly #options: KubeWireOptions;

  constructor(options: KubeWireOptions) {
    this.#options = options;
  }

  send(request: WireRequest): Promise<WireResponse> {
    const { process, trace } = this.#options;
    const asked = apiRequestOf(request);
    const isWatch = asked.query["watch"] === "true";
    const what = `${isWatch ? "WATCH" : asked.method} ${asked.path}`;
    return travel<WireResponse>(this.#options, {
      side: "kube",
      call: callOf(asked),
      what,
      signal: request.signal,
      serve: (trouble) => {
        const reply = this.#reply(asked, request.signal, trouble);
        trace.add(`${process.name} → kube ${what}: ${reply.status}${note(trouble)}`, request.body);
        return reply;
      },
      refuse: (status) => {
        trace.add(`${process.name} → kube ${what}: ${status} (trouble)`);
        const body = { kind: "Status", apiVersion: "v1", status: "Failure", code: status, message: "a trouble" };
        return whole({ kind: "answer", status, body });
      },
      broken: () => {
        trace.add(`${process.name} → kube ${what}: no answer (trouble)`);
        return new Error("the connection broke");
      },
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #reply(asked: ApiRequest, signal: AbortSignal, trouble: Trouble | undefined): WireResponse {
    const { cluster } = this.#options;
    if (trouble?.kind === "stale") {
      const reply = this.#stale(asked, signal);
      if (reply !== undefined) return reply;
    }
    const reply = cluster.request(asked);
    return reply.kind === "answer" ? whole(reply) : this.#open(reply, reply.first, signal);
  }

  /** `undefined` where there is no list in it. */
  #stale(asked: ApiRequest, signal: AbortSignal): WireResponse | undefined {
    const { cluster, chance } = this.#options;
    const { watch, sendInitialEvents, allowWatchBookmarks: _bookmarks, timeoutSeconds, ...query } = asked.query;
    const { revision, compactedRevision } = cluster.api.state;
    const isStreaming = sendInitialEvents === "true";
    if (!asked.path.endsWith("/nodes")) return undefined;
    const isList = asked.method === "GET" && (isStreaming || (watch === undefined && query["limit"] !== undefined));
    if (!isList || query["continue"] !== undefined) return undefined;
    const at = String(Math.max(compactedRevision, 1, revision - chance.below(MOST_STALE)));
    const { limit: _, ...selectors } = query;
    const listed = cluster.request({
      ...asked,
      query: { ...selectors, resourceVersion: at, resourceVersionMatch: "Exact" },
    });
    if (listed.kind !== "answer" || listed.status !== 200 || !isStreaming) {
      return listed.kind === "answer" ? whole(listed) : undefined;
    }
    const { resourceVersionMatch: __, ...rest } = selectors;
    const following = cluster.request({
      ...asked,
      query: {
        ...rest,
        watch: "true",
        allowWatchBookmarks: "true",
        timeoutSeconds: timeoutSeconds ?? "300",
        resourceVersion: at,
      },
    });
    if (following.kind !== "watch") return whole(following);
    return this.#open(following, [...framesOf(listed, at), ...following.first], signal);
  }

  #open(watch: Extract<Reply, { kind: "watch" }>, first: readonly WatchFrame[], signal: AbortSignal): WireResponse {
    const { cluster, timeline, chance, process, onFeed, onTold } = this.#options;
    const feed = new WatchFeed({ api: cluster.api, timeline, chance, process, watch, first, signal, onTold });
    onFeed(feed);
    return { status: 200, headers: {}, body: feed };
  }
}

/** A list as a stream tells it. */
function framesOf(listed: Answer, version: string): WatchFrame[] {
  const { items, kind, apiVersion } = listed.body as { items: KubeObject[]; kind: string; apiVersion: string };
  const named = { kind: kind.replace(/List$/, ""), apiVersion };
  const metadata = { resourceVersion: version, annotations: { "k8s.io/initial-events-end": "true" } };
  return [
    ...items.map((item) => ({ type: "ADDED" as const, object: { ...named, ...item } })),
    { type: "BOOKMARK", object: { ...named, metadata } },
  ];
}

function apiRequestOf({ method, path, headers, body }: WireRequest): ApiRequest {
  const start = path.indexOf("?");
  return {
    method,
    path: start === -1 ? path : path.slice(0, start),
    query: start === -1 ? {} : Object.fromEntries(new URLSearchParams(path.slice(start + 1))),
    accept: headers["accept"] ?? "",
    contentType: headers["content-type"] ?? "application/json",
    body: body === undefined ? undefined : JSON.parse(body),
  };
}

function callOf({ method, path }: ApiRequest): CallKind {
  if (path.endsWith(`/leases/${ELECTION_LEASE}`) || (method === "POST" && path.endsWith("/leases"))) return "lease";
  return method === "GET" ? "read" : "write";
}

function whole({ status, body, headers = {} }: Answer): WireResponse {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { status, headers: lower, body: once(Buffer.from(text)) };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
