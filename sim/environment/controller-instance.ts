/**
 * One controller process, composed as in `src/main/controller.ts` but on simulated transports and time. It runs alone or
 * takes part in leader election, and can be stopped gracefully. Killing and pausing it is `timeline.ts`.
 */
import { ArmClient } from "../../src/azure/arm/arm-client.ts";
import { Controller } from "../../src/controller/controller.ts";
import type { Metrics } from "../../src/controller/metrics.ts";
import type { ClusterConfig } from "../../src/core/config/cluster-config.ts";
import { SILENT_LOG } from "../../src/core/util/log.ts";
import type { ClassFilter } from "../../src/core/intent/ownership.ts";
import { EventRecorder } from "../../src/kube/events/event-recorder.ts";
import { OPEN_FENCE, type Fence } from "../../src/kube/election/lease.ts";
import { KubeClient } from "../../src/kube/client/kube-client.ts";
import { LeaderElection } from "../../src/kube/election/leader-election.ts";
import type { ArmTransport } from "../../src/azure/arm/transport.ts";
import type { Transport } from "../../src/kube/client/transport.ts";
import { ARM_URL } from "./simulated-azure.ts";
import type { Random } from "./random.ts";
import { ELECTION_LEASE } from "./simulated-kubernetes.ts";
import type { Process, Timeline } from "./timeline.ts";

export interface ControllerInstanceOptions {
  readonly process: Process;
  readonly timeline: Timeline;
  readonly random: Random;
  readonly config: ClusterConfig;
  readonly arm: ArmTransport;
  readonly kube: Transport;
  readonly metrics: Metrics;
  readonly classFilter: ClassFilter;
  readonly isElected: boolean;
  readonly hasBackends: boolean;
  readonly isWithoutDriftCheck: boolean;
  /** Replaces the controller's fence; used by a planted bug. */
  readonly fenceOf?: (fence: Fence) => Fence;
  /** The process ended by itself: it lost the lease, was stopped, or failed. */
  readonly onEnd: (process: Process, end: "lost" | "stopped" | { readonly error: unknown }) => void;
}

/** Longer than the defaults, so that lease calls are a small part of a history. */
export const LEASE_MS = { leaseDurationMs: 60_000, renewDeadlineMs: 45_000, retryPeriodMs: 15_000 } as const;
export const DRIFT_PERIOD_MS = 120_000;
const CLOUD = {
  resourceManager: ARM_URL,
  authority: "https://login.microsoftonline.com",
  audience: "https://management.core.windows.net",
  profile: "current",
} as const;
const TOKENS = { token: () => Promise.resolve("token"), refused: () => {} };
const WORKERS = 500;
/** The simulation has no webhook drivers. */
const NO_WEBHOOKS = () => Promise.reject(new Error("there are no webhooks"));

export class ControllerInstance {
  readonly process: Process;
  readonly #options: ControllerInstanceOptions;
  readonly #stopping = new AbortController();

  constructor(options: ControllerInstanceOptions) {
    this.#options = options;
    this.process = options.process;
  }

  start(): void {
    const { process, onEnd } = this.#options;
    this.#run().then(
      (end) => onEnd(process, end),
      (error: unknown) => onEnd(process, { error }),
    );
  }

  /** A graceful shutdown. */
  stop(): void {
    this.#stopping.abort(new Error("the controller stops"));
  }

  #run(): Promise<"lost" | "stopped"> {
    const { timeline, process, random, kube, isElected } = this.#options;
    const clock = timeline.clockOf(process);
    const client = new KubeClient({ transport: kube, clock });
    if (!isElected) return this.#lead(client, OPEN_FENCE).then(() => "stopped");
    const election = new LeaderElection({
      client,
      clock,
      random: random.number,
      namespace: "kube-system",
      name: ELECTION_LEASE,
      identity: process.name,
      ...LEASE_MS,
    });
    return election.run(this.#stopping.signal, (fence) => this.#lead(client, fence));
  }

  async #lead(kube: KubeClient, held: Fence): Promise<void> {
    const { timeline, process, random, config, metrics, classFilter, hasBackends } = this.#options;
    const { fenceOf = (fence: Fence) => fence } = this.#options;
    const fence = fenceOf(held);
    const common = { clock: timeline.clockOf(process), random: random.number };
    const arm = new ArmClient({
      ...common,
      cloud: CLOUD,
      transport: this.#options.arm,
      tokens: TOKENS,
      userAgent: "azlb",
    });
    const recorder = new EventRecorder({ ...common, client: kube.fencedBy(fence), component: "azlb" });
    const controller = new Controller({
      ...common,
      config,
      kube,
      arm,
      recorder,
      metrics,
      log: SILENT_LOG,
      fence,
      classFilter,
      driftPolicy: "enforce",
      driftPeriodMs: this.#options.isWithoutDriftCheck ? 0 : DRIFT_PERIOD_MS,
      workers: WORKERS,
      ...(hasBackends && { lbcf: { webhooks: NO_WEBHOOKS } }),
    });
    await controller.start();
    await aborted(this.#stopping.signal, held.signal);
    await controller.stop();
  }
}

/** Resolves when either is aborted. */
function aborted(...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    }
  });
}
