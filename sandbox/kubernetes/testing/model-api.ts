/** The pure model for tests, with a manual clock, repeatable randomness and short verbs. */
import { ControlLoops } from "../model/controllers/control-loops.ts";
import type { Answer, Change, Draws, JsonObject, KubeObject, OpenWatch, Reply } from "../model/contract.ts";
import { EmbeddedApi } from "../model/embedded-api.ts";
import { sandboxRanges } from "../model/service-ranges.ts";

export interface ModelOptions {
  readonly dualStack?: boolean;
  readonly seed?: number;
  /** Default: draws that repeat with the seed. */
  readonly draws?: Draws;
  /** Called with changes before they are applied. */
  readonly record?: (changes: readonly Change[]) => void;
  /** Does not create the namespace `default`. */
  readonly empty?: boolean;
}

export class ModelApi {
  readonly api: EmbeddedApi;
  nowMs = Date.parse("2026-01-01T00:00:00Z");

  constructor(options: ModelOptions = {}) {
    this.api = new EmbeddedApi({
      clock: { nowMs: () => this.nowMs },
      draws: options.draws ?? repeatable(options.seed ?? 1),
      ranges: sandboxRanges(options.dualStack ?? false),
      version: { major: "1", minor: "33", gitVersion: "v1.33.0" },
      ...(options.record === undefined ? {} : { record: options.record }),
    });
    if (!options.empty) this.create("/api/v1/namespaces", { metadata: { name: "default" } });
  }

  request(method: string, url: string, body?: unknown, contentType = "application/json"): Reply {
    const { pathname, searchParams } = new URL(url, "https://model");
    return this.api.request({
      method,
      path: pathname,
      query: Object.fromEntries(searchParams),
      accept: "application/json",
      contentType,
      body,
    });
  }

  /** The reply's object, whatever its status. */
  send(method: string, url: string, body?: unknown, contentType?: string): KubeObject & { status?: unknown } {
    const reply = this.request(method, url, body, contentType);
    if (reply.kind !== "answer") throw new Error(`${url} opened a watch`);
    return reply.body as KubeObject;
  }

  create(url: string, body: unknown): KubeObject {
    return this.#accepted("POST", url, body);
  }

  get(url: string): KubeObject {
    return this.#accepted("GET", url);
  }

  /** The objects of a list. */
  items(url: string): KubeObject[] {
    return this.get(url)["items"] as KubeObject[];
  }

  put(url: string, body: unknown): KubeObject {
    return this.#accepted("PUT", url, body);
  }

  mergePatch(url: string, body: unknown): KubeObject {
    return this.#accepted("PATCH", url, body, "application/merge-patch+json");
  }

  delete(url: string, options?: JsonObject): KubeObject {
    return this.#accepted("DELETE", url, options);
  }

  watch(url: string): OpenWatch {
    const reply = this.request("GET", url);
    if (reply.kind !== "watch") throw new Error(`${url} answered ${JSON.stringify(reply.body)}`);
    return reply;
  }

  /** The status of a refused request. */
  refusal(method: string, url: string, body?: unknown, contentType?: string): JsonObject & { code: number } {
    const reply = this.request(method, url, body, contentType) as Answer;
    if (reply.status < 400) throw new Error(`${method} ${url} was accepted`);
    return reply.body as JsonObject & { code: number };
  }

  #accepted(method: string, url: string, body?: unknown, contentType?: string): KubeObject {
    const reply = this.request(method, url, body, contentType);
    if (reply.kind === "answer" && reply.status < 300) return reply.body as KubeObject;
    throw new Error(`${method} ${url}: ${JSON.stringify(reply)}`);
  }
}

/** The model with its control loops on a manual clock. */
export class SimulatedCluster extends ModelApi {
  readonly #loops: ControlLoops;

  constructor(options: ModelOptions & { readonly simulate?: boolean } = {}) {
    super(options);
    this.#loops = new ControlLoops(this.api, { controllers: true, simulate: options.simulate ?? false });
  }

  /** Runs the tasks that are due now. */
  settle(): void {
    this.#loops.settle();
  }

  /** Advances the clock, running the tasks that become due, in order. */
  pass(forMs: number): void {
    const endMs = this.nowMs + forMs;
    this.settle();
    for (let next = this.#loops.nextAtMs; next !== undefined && next <= endMs; next = this.#loops.nextAtMs) {
      this.nowMs = Math.max(this.nowMs, next);
      this.settle();
    }
    this.nowMs = endMs;
  }
}

/** Pseudo-random draws that repeat with their seed (mulberry32). */
export function repeatable(seed: number): Draws {
  let state = seed >>> 0;
  const integer = (below: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
  const hex = (length: number): string => Array.from({ length }, () => integer(16).toString(16)).join("");
  return { integer, uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}` };
}
