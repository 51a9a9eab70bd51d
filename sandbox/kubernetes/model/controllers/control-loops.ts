/**
 * The control loops of a cluster that the sandbox needs. They observe changes, queue tasks, and run them only in
 * `settle`, so that the caller controls their time.
 *
 *   always        | deletion of custom resources with their definition; expiry of Events
 *   `controllers` | garbage collection, namespace deletion, service accounts and their Secrets (kube-controller-manager)
 *   `simulate`    | node and pod status, EndpointSlices (kubelet, scheduler, endpoint slice controller), pods of
 *                 | Deployments, ReplicaSets and DaemonSets, status of PodDisruptionBudgets
 */
import type { HistoryEntry } from "../contract.ts";
import type { EmbeddedApi } from "../embedded-api.ts";
import { DelayQueue } from "./delay-queue.ts";
import { emptyDefinitions, emptyNamespaces, expireEvents } from "./cleanup.ts";
import { updateEndpointSlices } from "./endpoint-slices.ts";
import { collectGarbage } from "./garbage-collector.ts";
import { LoopClient } from "./loop-client.ts";
import { runKubelets } from "./kubelets.ts";
import { keepServiceAccounts } from "./service-accounts.ts";
import { countDisruptions } from "./workloads/disruption-budgets.ts";
import { runDaemonSets } from "./workloads/daemon-sets.ts";
import { runDeployments } from "./workloads/deployments.ts";
import { runReplicaSets } from "./workloads/replica-sets.ts";

type Loop = (client: LoopClient, queue: DelayQueue, entry: HistoryEntry) => void;

const SIMULATED: readonly Loop[] = [
  runKubelets,
  updateEndpointSlices,
  runDeployments,
  runReplicaSets,
  runDaemonSets,
  countDisruptions,
];

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
      ...(options.controllers ? [collectGarbage, emptyNamespaces, keepServiceAccounts] : []),
      ...(options.simulate ? SIMULATED : []),
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
