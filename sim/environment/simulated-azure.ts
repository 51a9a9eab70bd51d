/**
 * Azure in the simulation: the emulator's state machine, called without sockets. Every call names its caller, so that laws
 * can tell the controllers' writes from those of other clients. The durations of operations are drawn here; faults of the
 * network are `network/`.
 */
import type { ArmResponse, Draws, OperationFate, State } from "../../sandbox/azure/model/index.ts";
import { applySeed } from "../../sandbox/azure/seed/seed.ts";
import type { SeedResource } from "../../sandbox/azure/seed/scope.ts";
import { openAzureStore, type AzureStore, type Touched } from "../../sandbox/azure/store/azure-store.ts";
import type { Random } from "./random.ts";
import type { Timeline } from "./timeline.ts";

export const ARM_URL = "https://management.azure.com";
const API_VERSION = "2026-01-01";
const STALE_FOR_MS = 10_000;
/** The longest that an operation runs, however slow Azure is. */
const LONGEST_TAIL_MS = 90_000;
/** One that runs for so long is a disturbance of what it is about: Azure takes no other write of that meanwhile. */
const SLOW_OPERATION_MS = 10_000;
/** The longest that one runs in a calm. */
const PROMPT_TAIL_MS = 1_000;

export interface ArmCall {
  /** Name of a controller process, or of another client. */
  readonly caller: string;
  readonly method: "GET" | "HEAD" | "PUT" | "PATCH" | "POST" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly fate?: OperationFate | undefined;
  readonly isStale?: boolean | undefined;
}

/** A write that Azure has answered; a refused one has touched nothing. */
export interface ArmWrite extends ArmCall {
  readonly status: number;
  readonly isAccepted: boolean;
  readonly touched: readonly Touched[];
}

export interface SimulatedAzureOptions {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly onWrite: (write: ArmWrite) => void;
  /** Operations have ended, so that resources in deletion may be gone. */
  readonly onSettled: () => void;
}

export class SimulatedAzure {
  readonly state: State;
  /** Factor on the duration of operations. */
  slowness = 1;
  /** How long every operation takes, for measurements; `undefined`: as drawn. */
  operationMs: number | undefined;
  /** Operations are short. */
  isPrompt = false;
  /** When the last operation ends of those that run; since the start of the history. */
  busyUntilMs = 0;
  readonly #store: AzureStore;
  readonly #options: SimulatedAzureOptions;
  /** Key of a resource → time of its last write. */
  readonly #writtenMs = new Map<string, number>();
  /** Id of a resource, in lower case → when the last slow operation on it ends. */
  readonly #slowUntilMs = new Map<string, number>();
  /** How long the operation that was drawn last runs. */
  #drawnMs = 0;
  #guids = 0;

  constructor(options: SimulatedAzureOptions) {
    this.#options = options;
    const { timeline } = options;
    this.#store = openAzureStore({ directory: undefined, options: {}, nowMs: () => timeline.nowMs });
    this.state = this.#store.watch(() => {});
  }

  seed(resources: readonly SeedResource[]): void {
    const { timeline } = this.#options;
    applySeed(resources, { store: this.#store, nowMs: () => timeline.nowMs, guid: () => this.#guid() });
    for (const key of this.state.resources.keys())
      if (key.includes("/providers/")) this.#writtenMs.set(key, Number.NEGATIVE_INFINITY);
  }

  request(call: ArmCall): ArmResponse {
    const request = {
      method: call.method,
      path: call.path,
      query: call.query ?? { "api-version": API_VERSION },
      headers: call.headers ?? {},
      body: call.body,
      nowMs: this.#options.timeline.nowMs,
      baseUrl: ARM_URL,
    };
    this.settle();
    this.#drawnMs = 0;
    const draws = this.#draws(call.fate);
    if (call.isStale === true && this.#mayBeStale(call)) return this.#store.readStale(request, draws);
    const { response, touched } = this.#store.handle(request, draws);
    const isWrite = call.method !== "GET" && call.method !== "HEAD";
    const { status } = response;
    for (const { before, after } of touched) {
      const key = (after ?? before)?.id.toLowerCase() ?? "";
      this.#writtenMs.set(key, this.#options.timeline.elapsedMs);
      if (this.#drawnMs >= SLOW_OPERATION_MS)
        this.#slowUntilMs.set(key, this.#options.timeline.elapsedMs + this.#drawnMs);
    }
    if (isWrite) this.#options.onWrite({ ...call, status, isAccepted: status < 400, touched });
    return response;
  }

  /** The body of a resource, as a GET returns it; throws if there is none. */
  read(path: string): unknown {
    const { status, body } = this.request({ caller: "law", method: "GET", path });
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
    return structuredClone(body);
  }

  /** When the last slow operation on a resource ends, or has ended; in virtual time. */
  slowUntilMs(id: string): number {
    return this.#slowUntilMs.get(id.toLowerCase()) ?? Number.NEGATIVE_INFINITY;
  }

  /** Completes the operations that are due. */
  settle(): void {
    const nextMs = this.#store.nextSettleAtMs;
    if (nextMs === undefined || nextMs > this.#options.timeline.nowMs) return;
    this.#store.settle();
    this.#options.onSettled();
  }

  /** A stale read lags by seconds: only writes of the last moments may be missing from it. */
  #mayBeStale({ method, path }: ArmCall): boolean {
    if (method !== "GET") return false;
    const asked = path.toLowerCase();
    const sinceMs = this.#options.timeline.elapsedMs - STALE_FOR_MS;
    const written = [...this.#writtenMs].filter(([key]) => key.startsWith(asked) || asked.startsWith(`${key}/`));
    return written.every(([, atMs]) => atMs >= sinceMs);
  }

  #draws(fate: OperationFate | undefined): Draws {
    const { random } = this.#options;
    return {
      guid: () => this.#guid(),
      tailMs: () => this.#tailMs(),
      retryAfterSeconds: () => (random.bool(0.3) ? 1 + random.below(10) : undefined),
      ...(fate !== undefined && { fate }),
    };
  }

  #tailMs(): number {
    if (this.operationMs !== undefined) return this.operationMs;
    const { random } = this.#options;
    const draw = random.number();
    if (draw < 0.4) return 0;
    const usualMs = draw < 0.8 ? random.between(1, 500) : draw < 0.97 ? random.between(500, 5_000) : 30_000;
    const tailMs = Math.round(Math.min(usualMs * this.slowness, this.isPrompt ? PROMPT_TAIL_MS : LONGEST_TAIL_MS));
    this.busyUntilMs = Math.max(this.busyUntilMs, this.#options.timeline.elapsedMs + tailMs);
    this.#drawnMs = tailMs;
    return tailMs;
  }

  #guid(): string {
    return `00000000-0000-4000-8000-${(++this.#guids).toString(16).padStart(12, "0")}`;
  }
}
