/**
 * Everything about doomed nodes, put together: the watch that turns eviction notices into taints, the controller that
 * turns taints into admin states, and what other writers of pools must ask. One switch leaves it all out.
 */
import type { FailedAttempt } from "../azure-connection.ts";
import type { GroupCommit } from "../../azure/group-commit/group-commit.ts";
import type { Mirror } from "../../azure/cache/mirror.ts";
import type { Clock, Random } from "../../core/util/clock.ts";
import type { ClusterConfig } from "../../core/config/cluster-config.ts";
import type { Log } from "../../core/util/log.ts";
import type { Tracer } from "../../core/util/tracer.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import type { KubeClient } from "../../kube/client/kube-client.ts";
import { AdminStateController } from "./admin-state-controller.ts";
import { AdminStateManager, NewestTaints } from "./admin-state-manager.ts";
import { AdminStateEvents } from "./admin-state-events.ts";
import { DrainSpans } from "./drain-spans.ts";
import { DrainAccounts } from "./drain-accounts.ts";
import type { ClusterCache } from "../cluster-cache.ts";
import type { Metrics } from "../metrics.ts";
import type { MachineListing } from "../machine-listing.ts";
import { accountForMissed, type MissedEvictionsOptions } from "./missed-evictions.ts";
import { PreemptionWatch } from "./preemption-watch.ts";
import { Events } from "../events.ts";

export interface AdminStateOptions {
  readonly config: ClusterConfig;
  readonly kube: KubeClient;
  readonly cache: ClusterCache;
  readonly mirror: Mirror;
  readonly machines: MachineListing;
  readonly commit: GroupCommit;
  readonly recorder: EventRecorder;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The pools of LBCF's backends on the node, once it is Down there; `undefined`: it is not yet. */
  readonly backendsDown: (node: string) => Promise<readonly string[] | undefined>;
  /** Absent: no spans. */
  readonly tracer?: Tracer | undefined;
}

export class AdminState {
  /** The nodes with their newest taints, for writes that may have waited since they were decided. */
  readonly taints: NewestTaints;
  readonly #controller: AdminStateController;
  readonly #preemptions: PreemptionWatch;
  readonly #missed: MissedEvictionsOptions;

  constructor(options: AdminStateOptions) {
    const { cache, kube, recorder, metrics, clock, random, log } = options;
    const { nodes, services } = cache;
    const namespaces = options.config.nodeEventNamespaces;
    const events = new AdminStateEvents({
      events: new Events(recorder, log),
      clock,
      services: () => services.store.values(),
    });
    this.taints = new NewestTaints(nodes.store);
    const spans = new DrainSpans(options.tracer);
    const manager = new AdminStateManager({ ...options, taints: this.taints, spans });
    const accounts = new DrainAccounts({
      client: kube,
      events,
      metrics,
      clock,
      log,
      noticeOf: (node) => this.#preemptions.noticeOf(node),
    });
    this.#controller = new AdminStateController({
      nodes,
      manager,
      events,
      accounts,
      backendsDown: options.backendsDown,
      spans,
      metrics,
      clock,
      random,
      log,
    });
    this.#preemptions = new PreemptionWatch({
      client: kube,
      nodes,
      namespaces,
      events,
      onNotice: (node) => accounts.noticed(node),
      loopMetrics: metrics.loops,
      clock,
      random,
      log,
    });
    this.#missed = { client: kube, preemptions: this.#preemptions, accounts, log };
  }

  /** Call once the caches are filled. Resolves when the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    this.#controller.start();
    const running = this.#preemptions.run(signal);
    void accountForMissed(this.#missed, signal);
    await running;
  }

  resync(): void {
    this.#controller.resync();
  }

  joined(): void {
    this.#controller.joined();
  }

  attemptFailed(report: FailedAttempt): void {
    this.#controller.attemptFailed(report);
  }

  async stop(patienceMs: number): Promise<void> {
    await Promise.all([this.#controller.stop(patienceMs), this.#preemptions.stop(patienceMs)]);
  }
}
