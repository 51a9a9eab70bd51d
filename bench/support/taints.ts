/** Taints nodes, and notes when each taint was there for everybody to see. */
import { OUT_OF_SERVICE_TAINT } from "../../src/core/admin-state/desired-admin-state.ts";
import { projectNode, type CachedNode } from "../../src/controller/projections.ts";
import type { KubeClient } from "../../src/kube/kube-client.ts";
import { Reflector } from "../../src/kube/reflector.ts";
import { NODES } from "../../src/kube/resources.ts";
import { realClock } from "../../src/main/real-clock.ts";

const TAINT = { key: OUT_OF_SERVICE_TAINT, value: "nodeshutdown", effect: "NoExecute" };

export class Tainter {
  /** The earliest that we know of: its own answer, or a watcher's news. By name, in the time of the wall. */
  readonly writtenMs = new Map<string, number>();
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
      if (isTainted) this.#note(change.object.metadata.name);
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
    this.#note(name);
  }

  async close(): Promise<void> {
    this.#ending.abort(new Error("the watch is over"));
    await this.#running;
  }

  #note(name: string): void {
    if (!this.writtenMs.has(name)) this.writtenMs.set(name, realClock.nowMs());
  }
}
