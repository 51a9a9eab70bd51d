/**
 * The control loops of a cluster that the sandbox needs. They observe changes, queue tasks, and run them only in
 * `settle`, so that the caller controls their time.
 *
 *   always        | deletion of custom resources with their definition; expiry of Events
 *   `controllers` | garbage collection, namespace deletion (kube-controller-manager)
 *   `simulate`    | node and pod status, EndpointSlices (kubelet, scheduler, endpoint slice controller)
 */
import type { HistoryEntry } from "../contract.ts";
import type { EmbeddedApi } from "../embedded-api.ts";
import { DelayQueue } from "./delay-queue.ts";
import { emptyDefinitions, emptyNamespaces, expireEvents } from "./cleanup.ts";
import { updateEndpointSlices } from "./endpoint-slices.ts";
import { collectGarbage } from "./garbage-collector.ts";
import { LoopClient } from "./loop-client.ts";
import { runKubelets } from "./kubelets.ts";

type Loop = (client: LoopClient, queue: DelayQueue, entry: HistoryEntry) => void;

export interface LoopOptions {
  readonly controllers: boolean;
  readonly simulate: boolean;
  /** Called after a change: the caller should settle soon. */
  readonly changed?: () => void;
}

export class ControlLoops {
  readonly #queue = new DelayQueue();
  readonly #client: LoopClient;
  readonly #unsubscribe: () => void;

  constructor(api: EmbeddedApi, options: LoopOptions) {
    this.#client = new LoopClient(api);
    const loops: Loop[] = [
      emptyDefinitions,
      expireEvents,
      ...(options.controllers ? [collectGarbage, emptyNamespaces] : []),
      ...(options.simulate ? [runKubelets, updateEndpointSlices] : []),
    ];
    const observe = (entry: HistoryEntry): void => {
      for (const loop of loops) loop(this.#client, this.#queue, entry);
    };
    for (const entry of existingObjects(api)) observe(entry);
    this.#unsubscribe = api.subscribe((entry) => {
      observe(entry);
      options.changed?.();
    });
  }

  /** Runs all due tasks; `nextAtMs` then tells when the next one is due. */
  settle(): void {
    this.#queue.run(this.#client.nowMs);
  }

  get nextAtMs(): number | undefined {
    return this.#queue.nextAtMs;
  }

  close(): void {
    this.#unsubscribe();
  }
}

/** The stored objects as ADDED entries. */
function* existingObjects({ state }: EmbeddedApi): Iterable<HistoryEntry> {
  for (const [collection, { objects }] of state.collections) {
    for (const object of objects.values()) {
      yield { type: "ADDED", revision: state.revision, collection, object, previous: undefined };
    }
  }
}
