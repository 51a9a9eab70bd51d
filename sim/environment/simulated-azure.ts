/**
 * Azure as the simulation has it: the emulator's state machine, asked without sockets. Whoever asks is named, so that
 * laws can tell our writes from others'. How long operations take is drawn; what goes wrong is the wire's business.
 */
import type { Account } from "../../sandbox/azure/identity/account.ts";
import type { ArmResponse, Draws, OperationFate, State } from "../../sandbox/azure/model/index.ts";
import { applySeed } from "../../sandbox/azure/seed/seed.ts";
import type { SeedResource } from "../../sandbox/azure/seed/scope.ts";
import { openAzureStore, type AzureStore, type Touched } from "../../sandbox/azure/store/azure-store.ts";
import type { Chance } from "./random.ts";
import type { Timeline } from "./timeline.ts";

export const ARM_URL = "https://management.azure.com";
const API_VERSION = "2026-01-01";
const STALE_FOR_MS = 10_000;
/** However slow Azure is, an operation ends within that. */
const LONGEST_TAIL_MS = 90_000;

export interface ArmAsk {
  /** Who asks: a process, or a person. */
  readonly who: string;
  readonly method: "GET" | "HEAD" | "PUT" | "PATCH" | "POST" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly fate?: OperationFate | undefined;
  readonly isStale?: boolean | undefined;
}

/** One write that Azure answered; a refused one touched nothing. */
export interface ArmWrite extends ArmAsk {
  readonly status: number;
  readonly isAccepted: boolean;
  readonly touched: readonly Touched[];
}

export interface AzureSideOptions {
  readonly timeline: Timeline;
  readonly chance: Chance;
  readonly onWrite: (write: ArmWrite) => void;
  /** Operations have ended: what was being deleted may be gone. */
  readonly onSettled: () => void;
}

export class AzureSide {
  readonly state: State;
  /** Operations take that much longer than usual. */
  slowness = 1;
  readonly #store: AzureStore;
  readonly #options: AzureSideOptions;
  /** Key of a resource → when it was last written. */
  readonly #writtenMs = new Map<string, number>();
  #guids = 0;

  constructor(options: AzureSideOptions) {
    this.#options = options;
    const { timeline } = options;
    this.#store = openAzureStore({ directory: undefined, options: {}, nowMs: () => timeline.nowMs });
    this.state = this.#store.watch(() => {});
  }

  plant(resources: readonly SeedResource[]): void {
    const { timeline } = this.#options;
    applySeed(resources, { store: this.#store, nowMs: () => timeline.nowMs, guid: () => this.#guid() });
  }

  ask(ask: ArmAsk): ArmResponse {
    const request = {
      method: ask.method,
      path: ask.path,
      query: ask.query ?? { "api-version": API_VERSION },
      headers: ask.headers ?? {},
      body: ask.body,
      nowMs: this.#options.timeline.nowMs,
      baseUrl: ARM_URL,
    };
    this.settle();
    const draws = this.#draws(ask.fate);
    if (ask.isStale === true && this.#mayBeStale(ask)) return this.#store.readStale(request, draws);
    const { response, touched } = this.#store.handle(request, draws);
    const isWrite = ask.method !== "GET" && ask.method !== "HEAD";
    const { status } = response;
    for (const { before, after } of touched) {
      this.#writtenMs.set((after ?? before)?.id.toLowerCase() ?? "", this.#options.timeline.elapsedMs);
    }
    if (isWrite) this.#options.onWrite({ ...ask, status, isAccepted: status < 400, touched });
    return response;
  }

  /** The body of what is there, as a caller sees it; throws where it is not. */
  read(path: string): unknown {
    const { status, body } = this.ask({ who: "law", method: "GET", path });
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
    return structuredClone(body);
  }

  /** Ends the operations that are due. */
  settle(): void {
    const nextMs = this.#store.nextSettleAtMs;
    if (nextMs === undefined || nextMs > this.#options.timeline.nowMs) return;
    this.#store.settle();
    this.#options.onSettled();
  }

  /** Reads lag for seconds, not for ever: only what was written a moment ago may be missing. */
  #mayBeStale({ method, path }: ArmAsk): boolean {
    if (method !== "GET") return false;
    const asked = path.toLowerCase();
    const sinceMs = this.#options.timeline.elapsedMs - STALE_FOR_MS;
    const written = [...this.#writtenMs].filter(([key]) => key.startsWith(asked) || asked.startsWith(`${key}/`));
    return written.every(([, atMs]) => atMs >= sinceMs);
  }

  #draws(fate: OperationFate | undefined): Draws {
    const { chance } = this.#options;
    return {
      guid: () => this.#guid(),
      tailMs: () => this.#tailMs(),
      retryAfterSeconds: () => (chance.isLucky(0.3) ? 1 + chance.below(10) : undefined),
      ...(fate !== undefined && { fate }),
    };
  }

  #tailMs(): number {
    const { chance } = this.#options;
    const luck = chance.number();
    if (luck < 0.4) return 0;
    const usualMs = luck < 0.8 ? chance.between(1, 500) : luck < 0.97 ? chance.between(500, 5_000) : 30_000;
    return Math.round(Math.min(usualMs * this.slowness, LONGEST_TAIL_MS));
  }

  #guid(): string {
    return `00000000-0000-4000-8000-${(++this.#guids).toString(16).padStart(12, "0")}`;
  }
}

/** Where the network resources of a group are. */
export function networkPath({ subscriptionId }: Account, resourceGroup: string): string {
  return `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}/providers/Microsoft.Network`;
}
