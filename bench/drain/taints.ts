/** Taints nodes and records when each taint was written and when a watcher received it. */
import { OUT_OF_SERVICE_TAINT } from "../../src/core/admin-state/reconcile-admin-state.ts";
import { projectNode, type CachedNode } from "../../src/controller/projections.ts";
import type { KubeClient } from "../../src/kube/client/kube-client.ts";
import { Reflector } from "../../src/kube/cache/reflector.ts";
import { NODES } from "../../src/kube/client/resources.ts";
import { realClock } from "../../src/main/real-clock.ts";

const TAINT = { key: OUT_OF_SERVICE_TAINT, value: "nodeshutdown", effect: "NoExecute" };

/** Wall-clock times. */
export interface Taint {
  /** The earlier of: the API server answered the patch, a watcher received the taint. */
  readonly writtenMs: number;
  /** When a watcher received it; a controller cannot act before. */
  readonly heardMs: number;
}

export class Tainter {
  readonly #writtenMs = new Map<string, number>();
  readonly #heardMs = new Map<string, number>();
  readonly #client: KubeClient;
  readonly #nodes: Reflector<CachedNode>;
  readonly #ending = new AbortController();
  readonly #running: Promise<void>;

  constructor(client: KubeClient) {
    this.#client = client;
    const parts = { client, clock: realClock, random: Math.random, resource: NODES, project: projectNode };
    this.#nodes = new Reflector(parts);
    this.#nodes.subscribe((change) => {
      const isTainted = (change.object.spec.taints ?? []).some(({ key }) => key === TAINT.key);
      if (isTainted) record(this.#heardMs, change.object.metadata.name);
    });
    this.#running = this.#nodes.run(this.#ending.signal);
  }

  /** Names of all nodes, in order. */
  async nodes(): Promise<string[]> {
    await this.#nodes.synced;
    return [...this.#nodes.store.keys()].sort();
  }

  async taint(name: string): Promise<void> {
    await this.#client.patch(NODES, { name }, { merge: { spec: { taints: [TAINT] } } });
    record(this.#writtenMs, name);
  }

  /** By name of the node, once a watcher has received the taint. */
  get taints(): ReadonlyMap<string, Taint> {
    const taint = (name: string, heardMs: number): Taint => {
      return { writtenMs: Math.min(heardMs, this.#writtenMs.get(name) ?? heardMs), heardMs };
    };
    return new Map([...this.#heardMs].map(([name, heardMs]) => [name, taint(name, heardMs)]));
  }

  async close(): Promise<void> {
    this.#ending.abort(new Error("the watch is over"));
    await this.#running;
  }
}

function record(times: Map<string, number>, name: string): void {
  if (!times.has(name)) times.set(name, realClock.nowMs());
}
