/**
 * The transport of one process to the simulated Kubernetes. Only lists of nodes may be stale: a server with a lagging cache
 * answers with an earlier state and continues from there. Services are listed without a resourceVersion, which the API
 * promises to answer consistently, and the controller relies on that. Latency and faults are `network.ts`.
 */
import type { Transport, WireRequest, WireResponse } from "../../src/kube/client/transport.ts";
import type { Answer, ApiRequest, KubeObject, Reply, WatchFrame } from "../../sandbox/kubernetes/model/contract.ts";
import { note } from "./arm-transport.ts";
import { ELECTION_LEASE, type SimulatedKubernetes } from "../environment/simulated-kubernetes.ts";
import type { Trace } from "../environment/trace.ts";
import type { CallKind, Fault } from "./faults.ts";
import { WatchStream } from "./watch-stream.ts";
import { sendCall, type NetworkOptions } from "./network.ts";

export interface SimulatedKubeTransportOptions extends NetworkOptions {
  readonly cluster: SimulatedKubernetes;
  readonly trace: Trace;
  readonly onWatch: (stream: WatchStream) => void;
  readonly onDelivered: (collection: string, revision: number) => void;
}

/** How many revisions a stale answer may lag behind. */
const MOST_STALE = 30;

export class SimulatedKubeTransport implements Transport {
  readonly #options: SimulatedKubeTransportOptions;

  constructor(options: SimulatedKubeTransportOptions) {
    this.#options = options;
  }

  send(request: WireRequest): Promise<WireResponse> {
    const { process, trace } = this.#options;
    const asked = apiRequestOf(request);
    const isWatch = asked.query["watch"] === "true";
    const what = `${isWatch ? "WATCH" : asked.method} ${asked.path}`;
    return sendCall<WireResponse>(this.#options, {
      side: "kube",
      call: callOf(asked),
      what,
      signal: request.signal,
      serve: (fault) => {
        const reply = this.#reply(asked, request.signal, fault);
        trace.add(`${process.name} → kube ${what}: ${reply.status}${note(fault)}`, request.body);
        return reply;
      },
      refuse: (status) => {
        trace.add(`${process.name} → kube ${what}: ${status} (fault)`);
        const body = { kind: "Status", apiVersion: "v1", status: "Failure", code: status, message: "a fault" };
        return whole({ kind: "answer", status, body });
      },
      broken: () => {
        trace.add(`${process.name} → kube ${what}: no answer (fault)`);
        return new Error("the connection broke");
      },
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #reply(asked: ApiRequest, signal: AbortSignal, fault: Fault | undefined): WireResponse {
    const { cluster } = this.#options;
    if (fault?.kind === "stale") {
      const reply = this.#stale(asked, signal);
      if (reply !== undefined) return reply;
    }
    const reply = cluster.request(asked);
    return reply.kind === "answer" ? whole(reply) : this.#open(reply, reply.first, signal);
  }

  /** `undefined` if the request is not a list of nodes. */
  #stale(asked: ApiRequest, signal: AbortSignal): WireResponse | undefined {
    const { cluster, random } = this.#options;
    const { watch, sendInitialEvents, allowWatchBookmarks: _bookmarks, timeoutSeconds, ...query } = asked.query;
    const { revision, compactedRevision } = cluster.api.state;
    const isStreaming = sendInitialEvents === "true";
    if (!asked.path.endsWith("/nodes")) return undefined;
    const isList = asked.method === "GET" && (isStreaming || (watch === undefined && query["limit"] !== undefined));
    if (!isList || query["continue"] !== undefined) return undefined;
    const at = String(Math.max(compactedRevision, 1, revision - random.below(MOST_STALE)));
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
    const { cluster, timeline, random, process, onWatch, onDelivered } = this.#options;
    const stream = new WatchStream({ api: cluster.api, timeline, random, process, watch, first, signal, onDelivered });
    onWatch(stream);
    return { status: 200, headers: {}, body: stream };
  }
}

/** A list as the initial events of a watch. */
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
