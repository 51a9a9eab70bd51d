/** The model with injected faults: delays, errors, closed connections, stale lists. */
import { setTimeout as delay } from "node:timers/promises";

import type { Answer, ApiRequest, Reply } from "../model/contract.ts";
import type { EmbeddedApi } from "../model/embedded-api.ts";
import { StatusError } from "../model/status-error.ts";
import type { Effect, KubeFaults } from "./faults.ts";

/** The connection is closed without an answer. */
export const CUT = Symbol("cut");

export class FaultInjectingApi {
  readonly faults: KubeFaults;
  /** While set, lists show the state as of this revision. */
  staleRevision: number | undefined;
  readonly #api: EmbeddedApi;

  constructor(api: EmbeddedApi, faults: KubeFaults) {
    this.#api = api;
    this.faults = faults;
  }

  async request(request: ApiRequest): Promise<Reply | typeof CUT> {
    const hits = this.faults.hits({ method: request.method, path: request.path, caller: undefined });
    const effects = hits.map((fault) => fault.effect);
    for (const { id, effect } of hits) if (effect.kind === "delay") await this.#delayed(id, effect.delayMs);
    if (effects.some((effect) => effect.kind === "cutBefore")) return CUT;
    const refuses = effects.find((effect) => effect.kind === "status");
    if (refuses !== undefined) return refusal(refuses);
    const reply = this.#api.request(this.#aged(request));
    return effects.some((effect) => effect.kind === "cutAfter") ? CUT : reply;
  }

  #delayed(id: string, delayMs: number | null): Promise<void> {
    return delayMs === null ? this.faults.cleared(id) : delay(delayMs, undefined, { ref: false }); // does not keep the process alive
  }

  #aged(request: ApiRequest): ApiRequest {
    const { method, query } = request;
    if (this.staleRevision === undefined || method !== "GET" || query["watch"] !== undefined) return request;
    if (query["continue"] !== undefined) return request;
    const stale = { resourceVersion: String(this.staleRevision), resourceVersionMatch: "Exact" };
    return { ...request, query: { ...query, ...stale } };
  }
}

function refusal(effect: Extract<Effect, { kind: "status" }>): Answer {
  const { retryAfterSeconds } = effect;
  const details = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds };
  const error = new StatusError(effect.status, effect.reason, effect.message, details);
  const headers = retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) };
  return { kind: "answer", status: effect.status, body: error.toStatus(), headers };
}
