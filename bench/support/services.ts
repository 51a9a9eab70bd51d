/** Creates Services by the hundred and records when each gets its address. */
import type { KubeClient } from "../../src/kube/client/kube-client.ts";
import { Reflector } from "../../src/kube/cache/reflector.ts";
import { isFailure } from "../../src/kube/client/kube-failure.ts";
import { SERVICES } from "../../src/kube/client/resources.ts";
import { projectService, type CachedService } from "../../src/controller/projections.ts";
import { realClock } from "../../src/main/real-clock.ts";

const CREATED_AT_A_TIME = 20;

/** Creates `svc-0` … with one port each. Resolves with the time at which each was requested. */
export async function createServices(
  client: KubeClient,
  count: number,
  from = 0,
  spec: Readonly<Record<string, unknown>> = {},
  annotations: Readonly<Record<string, string>> = {},
): Promise<Map<string, number>> {
  const askedMs = new Map<string, number>();
  const numbers = Array.from({ length: count }, (_, at) => from + at);
  const worker = async (): Promise<void> => {
    for (let number = numbers.shift(); number !== undefined; number = numbers.shift()) {
      const name = `svc-${number}`;
      askedMs.set(`default/${name}`, realClock.monotonicMs());
      await created(client, {
        metadata: { name, namespace: "default", annotations },
        spec: { type: "LoadBalancer", ports: [{ name: "http", port: 80 }], selector: { app: name }, ...spec },
      });
    }
  };
  await Promise.all(Array.from({ length: CREATED_AT_A_TIME }, worker));
  return askedMs;
}

const TRIES = 30;
const PAUSE_MS = 1_000;

/** On a busy machine the API server may not answer for a while. */
async function created(client: KubeClient, body: Parameters<KubeClient["create"]>[1]): Promise<void> {
  for (let left = TRIES; ; left--) {
    try {
      await client.create(SERVICES, body);
      return;
    } catch (error) {
      if (isFailure(error, "alreadyExists")) return;
      if (left === 0) throw error;
      await realClock.sleep(PAUSE_MS);
    }
  }
}

/** Watches Services and records when each first has an address. */
export class AddressWatch {
  readonly servedMs = new Map<string, number>();
  readonly #reflector: Reflector<CachedService>;
  readonly #ending = new AbortController();
  readonly #running: Promise<void>;
  #waiting: { readonly count: number; readonly resolve: () => void } | undefined;

  constructor(client: KubeClient) {
    const parts = { client, clock: realClock, random: Math.random, resource: SERVICES, project: projectService };
    this.#reflector = new Reflector(parts);
    this.#reflector.subscribe((change) => {
      if (change.kind !== "deleted") this.#note(change.object);
    });
    this.#running = this.#reflector.run(this.#ending.signal);
  }

  async served(count: number, withinMs: number): Promise<void> {
    if (this.servedMs.size >= count) return;
    const late = new Promise<never>((_, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`${this.servedMs.size} of ${count} Services have an address after ${withinMs} ms`)),
        withinMs,
      );
      timer.unref();
    });
    const all = new Promise<void>((resolve) => {
      this.#waiting = { count, resolve };
    });
    await Promise.race([all, late]);
  }

  async close(): Promise<void> {
    this.#ending.abort(new Error("the watch is over"));
    await this.#running;
  }

  #note(service: CachedService): void {
    const key = `${service.metadata.namespace}/${service.metadata.name}`;
    if ((service.status.loadBalancer.ingress ?? []).length === 0 || this.servedMs.has(key)) return;
    this.servedMs.set(key, realClock.monotonicMs());
    if (this.#waiting !== undefined && this.servedMs.size >= this.#waiting.count) this.#waiting.resolve();
  }
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
