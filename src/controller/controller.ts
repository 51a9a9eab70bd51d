/**
 * The controller put together from its parts, free of sockets, clocks and files: those are handed in, so that a
 * simulation runs the same code. `start` fills the caches, compares the configuration with Azure, then starts the loops;
 * `stop` ends what is in flight.
 */
import type { ArmClient } from "../azure/arm/arm-client.ts";
import { throttledFor } from "../azure/arm/failures.ts";
import type { Retry } from "../azure/group-commit/commit-types.ts";
import { isApplied } from "../core/service/applied-state.ts";
import { describeFailure } from "../azure/arm/failure-text.ts";
import { type BrakeLimits, DEFAULT_BRAKE_LIMITS } from "../core/brake/brake-limits.ts";
import { isWithheld } from "../core/brake/withheld-writes.ts";
import { hasAdminState } from "../core/admin-state/reconcile-admin-state.ts";
import { type Clock, type Random, type Timer, DecisionTurns } from "../core/util/clock.ts";
import type { ClusterConfig } from "../core/config/cluster-config.ts";
import { serviceKey, type Service } from "../core/model/kubernetes.ts";
import type { Log } from "../core/util/log.ts";
import type { Tracer } from "../core/util/tracer.ts";
import type { Change } from "../core/guard/configuration-changes.ts";
import type { ClassFilter } from "../core/intent/ownership.ts";
import type { DriftPolicy } from "../core/intent/service-intent.ts";
import type { Warning } from "../core/outcome.ts";
import type { EventRecorder } from "../kube/events/event-recorder.ts";
import type { Fence } from "../kube/election/lease.ts";
import type { KubeClient } from "../kube/client/kube-client.ts";
import { AdminState } from "./admin-state/admin-state.ts";
import { Brake } from "./brake/brake.ts";
import { ReleaseWatch } from "./brake/release-watch.ts";
import { AzureConnection } from "./azure-connection.ts";
import { AzureStepExecutor, ServiceWriter } from "./service/step-executor.ts";
import { CloudLoadBalancer } from "./service/cloud-load-balancer.ts";
import { ClusterCache } from "./cluster-cache.ts";
import { ConfigurationGuard } from "./configuration-guard.ts";
import { Events } from "./events.ts";
import { DriftWatch } from "./service/drift-watch.ts";
import { type LbcfOptions, LbcfPart } from "./lbcf/lbcf-part.ts";
import { MachineListing } from "./machine-listing.ts";
import { MemberLists } from "./pools/member-list.ts";
import type { Metrics } from "./metrics.ts";
import { ReadWaits } from "./service/read-waits.ts";
import { Observer } from "./service/observer.ts";
import { PoolController } from "./pools/pool-controller.ts";
import { ServiceController } from "./service/service-controller.ts";
import { retryTold, ServiceEvents } from "./service/service-events.ts";
import { pictureOf } from "./picture.ts";
import type { Picture } from "../core/view/picture.ts";
import type { WriteLog } from "./write-log.ts";

export interface ControllerOptions {
  readonly config: ClusterConfig;
  readonly kube: KubeClient;
  readonly arm: ArmClient;
  readonly recorder: EventRecorder;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly fence: Fence;
  /** Absent: no spans. */
  readonly tracer?: Tracer | undefined;
  readonly classFilter: ClassFilter;
  readonly driftPolicy: DriftPolicy;
  /** How often Azure is read anew and compared. */
  readonly driftPeriodMs: number;
  readonly workers: number;
  /** A difference between the configuration and Azure that does not keep the controller from its work. */
  readonly acceptedChange?: Change | undefined;
  /** Absent: the default. */
  readonly brakeLimits?: BrakeLimits | undefined;
  /** LBCF (lb-controlling-framework), where its definitions are installed; absent: never. */
  readonly lbcf?: LbcfOptions;
  /** The API shows where the pods of a Service are. */
  readonly showsEndpoints?: boolean;
  /** The last writes are noted there; absent: no view asks for them. */
  readonly writes?: WriteLog | undefined;
}

/** Events are written after the work; an API server that does not answer must not hold up the end. */
const LAST_EVENTS_MS = 2_000;

export class Controller {
  readonly #options: ControllerOptions;
  readonly #cache: ClusterCache;
  readonly #azure: AzureConnection;
  readonly #guard: ConfigurationGuard;
  readonly #services: ServiceController;
  readonly #pools: PoolController;
  readonly #brake: Brake;
  readonly #release: ReleaseWatch;
  readonly #stopping = new AbortController();
  readonly #ending = new AbortController();
  readonly #adminState: AdminState | undefined;
  readonly #lbcf: LbcfPart | undefined;
  #running: Promise<unknown> | undefined;
  #resyncTimer: Timer | undefined;
  #isReady = false;

  constructor(options: ControllerOptions) {
    this.#options = options;
    const { config, clock, random, log, metrics, classFilter } = options;
    const kube = options.kube.fencedBy(options.fence);
    const { showsEndpoints } = options;
    this.#cache = new ClusterCache({ client: options.kube, clock, random, log, config, showsEndpoints });
    this.#cache.countIn(metrics.loops);
    const waits = new ReadWaits(clock);
    this.#azure = new AzureConnection({
      ...options,
      kube,
      onFailure: (report) => this.#adminState?.attemptFailed(report),
      onPoolsGone: () => {
        if (config.poolType === "nodeIPConfiguration") this.#pools.resync();
      },
      onTakenAway: (taken) => this.#services.lookAgain(taken),
      onReadHeld: (waitMs) => waits.held(waitMs),
      onRival: (message) => this.#services.warnAll("RivalController", message),
    });
    const { mirror, commit } = this.#azure;
    const machines = new MachineListing(mirror, clock);
    const parts = { cache: this.#cache, mirror, machines, commit };
    if (hasAdminState(config))
      this.#adminState = new AdminState({
        ...options,
        ...parts,
        kube,
        backendsDown: (node) => this.#lbcf?.down(node) ?? Promise.resolve([]),
      });
    if (options.lbcf !== undefined) {
      this.#lbcf = new LbcfPart({ ...options, ...options.lbcf, ...parts, fenced: kube });
    }
    const brake = new Brake({
      limits: options.brakeLimits ?? DEFAULT_BRAKE_LIMITS,
      clock,
      metrics,
      onEngaged: () => this.#release.engage(),
    });
    this.#brake = brake;
    this.#release = new ReleaseWatch({
      client: kube,
      clock,
      log,
      isEngaged: () => isWithheld(brake.withheld),
      onReleased: (writes, forMs) => {
        brake.release(writes, forMs);
        this.#pools.resync();
        this.#services.resync();
      },
    });
    this.#cache.nodes.subscribe(({ kind, object }) => brake.noteNode(object, kind === "deleted"));
    const observer = new Observer({ config, classFilter, cache: this.#cache, mirror, machines, brake });
    const emitter = new Events(options.recorder, log);
    const events = new ServiceEvents(emitter, log);
    this.#guard = new ConfigurationGuard({ ...options, cache: this.#cache, mirror, events: emitter });
    const { written } = this.#cache;
    const turns = new DecisionTurns(clock);
    const members = new MemberLists(kube, written.memberLists);
    const executor = new AzureStepExecutor({
      observer,
      written: written.services,
      commit,
      services: new ServiceWriter(kube, classFilter),
      members,
      onWarning: (service, warning) => emitWarning(events, log, service, warning),
      onRetry: (service, what, retry) => {
        if (service !== undefined) {
          events.retrying(service, what, retry);
          metrics.serviceStates.held(serviceKey(service), retryTold(service, what, retry), retry.afterMs);
        } else log.info(`will try again: ${describeFailure(retry.failure, what)}`);
      },
      adminState: this.#adminState,
    });
    const watched = waits.watching(observer, (service, waitMs) => {
      // one that is as it asks is only compared: it waits for nothing
      if (service.metadata.deletionTimestamp === undefined && isApplied(service, config)) return;
      const [doing, retry] = ["reading from Azure", readHeld(waitMs)];
      events.retrying(service, doing, retry);
      metrics.serviceStates.held(serviceKey(service), retryTold(service, doing, retry), waitMs);
    });
    this.#services = new ServiceController({
      services: this.#cache.services,
      namespaces: this.#cache.namespaces,
      cloud: new CloudLoadBalancer({ observer: watched, executor, turns, brake }),
      brake,
      written: written.services,
      events,
      drift: new DriftWatch(config, options.driftPolicy, metrics),
      metrics,
      clock,
      random,
      log,
      classFilter,
      workers: options.workers,
      turns,
      onMachinesLeft: () => this.#pools.resync(),
      onLeftUnfinished: () => this.#pools.resync(),
      onLoadBalancerChanged: (by) => {
        // after one that went, others may still be taking the machines out: the load balancer could not be deleted
        const mayMissMachines = by === "changed" && config.poolType === "nodeIPConfiguration";
        if (mayMissMachines || config.loadBalancers.length > 0) this.#pools.resync();
      },
    });
    this.#pools = new PoolController({
      nodes: this.#cache.nodes,
      endpointSlices: this.#cache.endpointSlices,
      observer,
      executor,
      members,
      events: emitter,
      loopMetrics: metrics.loops,
      clock,
      random,
      log,
      onMembersChanged: () => this.#services.resync(),
    });
  }

  /** What the caches hold at this moment; nothing is read for it. */
  get picture(): Picture {
    const { config, classFilter, metrics } = this.#options;
    return pictureOf({
      config,
      classFilter,
      cache: this.#cache,
      mirror: this.#azure.mirror,
      states: metrics.serviceStates,
      unready: this.unready,
      notices: this.#azure.notices,
    });
  }

  /** Calls back when what `picture` shows of the cluster has changed; that of Azure changes with writes. */
  watchCluster(onChange: () => void): void {
    this.#cache.services.subscribe(onChange);
    this.#cache.nodes.subscribe(onChange);
    this.#cache.shownEndpoints?.subscribe(onChange);
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Why its loops do not run, where it is the configuration that keeps them from it. */
  get unready(): string | undefined {
    return this.#guard.unready;
  }

  /**
   * Resolves once the caches are filled and the loops run, or when it is stopped before that; or without any loop where
   * the configuration is refused.
   */
  async start(): Promise<void> {
    this.#running = this.#cache.run(this.#ending.signal);
    const { signal } = this.#stopping;
    const stopped = new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    await Promise.race([this.#cache.synced, stopped]);
    if (signal.aborted || !(await this.#mayWrite(signal))) return;
    this.#running = Promise.all([this.#running, this.#adminState?.run(this.#ending.signal)]);
    this.#pools.start();
    this.#services.start();
    void this.#lbcf?.start();
    this.#isReady = true;
    this.#scheduleResync();
  }

  /** Lets the writes in flight end, within its patience. */
  async stop(patienceMs = 20_000): Promise<void> {
    this.#isReady = false;
    this.#resyncTimer?.cancel();
    this.#release.stop();
    const stopping = new Error("the controller stops");
    this.#stopping.abort(stopping);
    this.#azure.stopWaiting(stopping);
    const optional = [this.#adminState, this.#lbcf].filter((part) => part !== undefined);
    const loops = [this.#services, this.#pools, ...optional];
    await Promise.all([...loops.map((loop) => loop.stop(patienceMs)), this.#azure.close()]);
    await this.#azure.releaseLock();
    await Promise.race([this.#options.recorder.flushed(), this.#options.clock.sleep(LAST_EVENTS_MS)]);
    this.#ending.abort(stopping);
    await this.#running;
  }

  async #mayWrite(signal: AbortSignal): Promise<boolean> {
    try {
      const passes = await this.#guard.passes(signal);
      this.#brake.exempt(this.#guard.acceptedServices);
      return passes;
    } catch (error) {
      if (signal.aborted) return false;
      throw error;
    }
  }

  /** Reads Azure anew, and compares. */
  resync(): void {
    this.#azure.mirror.expire();
    this.#adminState?.resync();
    this.#lbcf?.resync();
    this.#pools.resync();
    this.#services.resync();
  }

  #scheduleResync(): void {
    const { clock, driftPeriodMs, random } = this.#options;
    if (driftPeriodMs === 0) return;
    this.#resyncTimer = clock.setTimer(driftPeriodMs * (0.9 + 0.2 * random()), () => {
      this.resync();
      this.#scheduleResync();
    });
  }
}

function readHeld(waitMs: number): Retry {
  return { failure: throttledFor(waitMs), attempts: 1, afterMs: waitMs };
}

/** Where no Service asked for the write, as for pools that follow the nodes, the warning is the operator's. */
function emitWarning(events: ServiceEvents, log: Log, service: Service | undefined, warning: Warning): void {
  if (service === undefined) log.warn(`${warning.reason}: ${warning.message}`);
  else events.warned(service, warning);
}
