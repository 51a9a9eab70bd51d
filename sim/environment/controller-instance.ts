/**
 * One controller process, put together as `src/main/controller.ts` does it, but on simulated wires and time. It runs
 * alone or takes part in an election; it may be stopped in good order, killed, or put to sleep.
 */
import { ArmClient } from "../../src/azure/arm/arm-client.ts";
import { Controller } from "../../src/controller/controller.ts";
import type { Metrics } from "../../src/controller/metrics.ts";
import type { ClusterConfig } from "../../src/core/config/cluster-config.ts";
import { SILENT_LOG } from "../../src/core/util/log.ts";
import type { ClassFilter } from "../../src/core/service/ownership.ts";
import { EventRecorder } from "../../src/kube/events/event-recorder.ts";
import { OPEN_FENCE, type Fence } from "../../src/kube/election/fence.ts";
import { KubeClient } from "../../src/kube/client/kube-client.ts";
import { LeaderElection } from "../../src/kube/election/leader-election.ts";
import type { ArmTransport } from "../../src/azure/arm/transport.ts";
import type { Transport } from "../../src/kube/client/transport.ts";
import { ARM_URL } from "./simulated-azure.ts";
import type { Chance } from "./random.ts";
import { ELECTION_LEASE } from "../network/kube-transport.ts";
import type { Process, Timeline } from "./timeline.ts";

export interface InstanceOptions {
  readonly process: Process;
  readonly timeline: Timeline;
  readonly chance: Chance;
  readonly config: ClusterConfig;
  readonly arm: ArmTransport;
  readonly kube: Transport;
  readonly metrics: Metrics;
  readonly classFilter: ClassFilter;
  readonly isElected: boolean;
  readonly hasBackends: boolean;
  /** Which fence the controller gets of the one that it holds: a planted bug may give it another. */
  readonly fenceOf?: (fence: Fence) => Fence;
  /** It ended by itself; an error: it failed. */
  readonly onEnd: (process: Process, end: "lost" | "stopped" | { readonly error: unknown }) => void;
}

/** Longer than the real ones, so that most of a history is not about leases. */
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
/** Nobody has a driver of his own here. */
const NO_WEBHOOKS = () => Promise.reject(new Error("there are no webhooks"));

export class Instance {
  readonly process: Process;
  readonly #options: InstanceOptions;
  readonly #stopping = new AbortController();

  constructor(options: InstanceOptions) {
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

  /** In good order. */
  stop(): void {
    this.#stopping.abort(new Error("the controller stops"));
  }

  #run(): Promise<"lost" | "stopped"> {
    const { timeline, process, chance, kube, isElected } = this.#options;
    const clock = timeline.clockOf(process);
    const client = new KubeClient({ transport: kube, clock });
    if (!isElected) return this.#lead(client, OPEN_FENCE).then(() => "stopped");
    const election = new LeaderElection({
      client,
      clock,
      random: chance.number,
      namespace: "kube-system",
      name: ELECTION_LEASE,
      identity: process.name,
      ...LEASE_MS,
    });
    return election.run(this.#stopping.signal, (fence) => this.#lead(client, fence));
  }

  async #lead(kube: KubeClient, held: Fence): Promise<void> {
    const { timeline, process, chance, config, metrics, classFilter, hasBackends } = this.#options;
    const { fenceOf = (fence: Fence) => fence } = this.#options;
    const fence = fenceOf(held);
    const common = { clock: timeline.clockOf(process), random: chance.number };
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
      driftPeriodMs: DRIFT_PERIOD_MS,
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
