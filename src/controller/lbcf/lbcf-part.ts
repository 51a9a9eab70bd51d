/**
 * LBCF put together: a part of the controller that runs where its definitions are installed. They are looked for at the
 * start and again every minute, so that they may come later; a cluster without them costs one request a minute.
 */
import type { GroupCommit } from "../../azure/group-commit.ts";
import type { Mirror } from "../../azure/mirror.ts";
import { desiredAdminState } from "../../core/admin-state/desired-admin-state.ts";
import type { AdminState } from "../../core/arm.ts";
import { ownEntries, type OwnEntries } from "../../core/backends/own-entries.ts";
import type { Clock, Random, Timer } from "../../core/clock.ts";
import type { ClusterConfig } from "../../core/config/cluster-config.ts";
import { type Brake, DEFAULT_BRAKE } from "../../core/lbcf/brake.ts";
import { ANNOTATION } from "../../core/lbcf/names.ts";
import type { BackendRecord, Driver } from "../../core/lbcf/objects.ts";
import { LBCF_RETRIES, type RetryPolicy } from "../../core/lbcf/retry.ts";
import type { Log } from "../../core/log.ts";
import type { EventRecorder } from "../../kube/event-recorder.ts";
import type { Fence } from "../../kube/fence.ts";
import type { KubeClient } from "../../kube/kube-client.ts";
import { isFailure } from "../../kube/kube-failure.ts";
import type { ClusterCache } from "../cluster-cache.ts";
import type { Metrics } from "../metrics.ts";
import { AzureDriver } from "./azure-driver.ts";
import { BackendBatcher } from "./backend-batcher.ts";
import { BackendStates } from "./backend-states.ts";
import { BindController } from "./bind-controller.ts";
import { DriverController } from "./driver-controller.ts";
import { Drivers } from "./drivers.ts";
import { GateController } from "./gate-controller.ts";
import { GroupCluster } from "./group-cluster.ts";
import { GroupController } from "./group-controller.ts";
import { GroupSync } from "./group-sync.ts";
import { LbcfCache, loadBalancerKeyOf } from "./lbcf-cache.ts";
import type { LbcfLoop } from "./lbcf-loop.ts";
import { LbcfMetrics } from "./lbcf-metrics.ts";
import { LbcfVoice } from "./lbcf-voice.ts";
import { LbcfWriter } from "./lbcf-writer.ts";
import { Limiter } from "./limiter.ts";
import { LoadBalancerController } from "./load-balancer-controller.ts";
import { LoadBalancerLookup } from "./load-balancer-lookup.ts";
import { LoadBalancerSteps } from "./load-balancer-steps.ts";
import { RecordController } from "./record-controller.ts";
import { BACKEND_RECORDS } from "./resources.ts";
import { SubjectReader } from "./subject-reader.ts";
import { WakeUps } from "./wake-ups.ts";
import { WebhookDriver, type WebhookTransport } from "./webhook-driver.ts";

export interface LbcfOptions {
  /** How webhook drivers are reached. */
  readonly webhooks: WebhookTransport;
  readonly retries?: RetryPolicy;
  readonly brake?: Brake;
  readonly healthEveryMs?: number;
  /** How often the definitions are looked for. */
  readonly lookEveryMs?: number;
}

export interface LbcfPartOptions extends LbcfOptions {
  readonly config: ClusterConfig;
  /** For reads, and fenced for writes. */
  readonly kube: KubeClient;
  readonly fenced: KubeClient;
  readonly cache: ClusterCache;
  readonly commit: GroupCommit;
  readonly mirror: Mirror;
  readonly recorder: EventRecorder;
  readonly metrics: Metrics;
  /** Drivers are not asked without the lease either. */
  readonly fence: Fence;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

const LOOK_EVERY_MS = 60_000;
const HEALTH_EVERY_MS = 30_000;
/** Writes to the API server at a time. */
const WRITES_AT_A_TIME = 64;

export class LbcfPart {
  readonly #options: LbcfPartOptions;
  readonly #ending = new AbortController();
  #timer: Timer | undefined;
  #parts: Parts | undefined;
  #running: Promise<void> | undefined;
  #complaint = "";

  constructor(options: LbcfPartOptions) {
    this.#options = options;
  }

  /** Resolves once it runs, or once it is known that it need not yet. The cluster's own caches must be filled. */
  async start(): Promise<void> {
    const { clock, lookEveryMs = LOOK_EVERY_MS } = this.#options;
    try {
      if (await this.#isInstalled()) return await this.#begin();
    } catch (error) {
      this.#complain(error instanceof Error ? error.message : String(error));
    }
    if (!this.#ending.signal.aborted) this.#timer = clock.setTimer(lookEveryMs, () => void this.start());
  }

  get isRunning(): boolean {
    return this.#parts !== undefined;
  }

  async stop(patienceMs: number): Promise<void> {
    this.#timer?.cancel();
    this.#ending.abort(new Error("the controller stops"));
    await Promise.all((this.#parts?.loops ?? []).map((loop) => loop.stop(patienceMs)));
    await this.#running;
  }

  /** Azure is looked at anew. */
  resync(): void {
    void this.#parts?.states.sync("resync");
  }

  /** Once, not every minute. */
  #complain(message: string): void {
    if (this.#ending.signal.aborted || message === this.#complaint) return;
    this.#complaint = message;
    this.#options.log.warn(`cannot see whether LBCF is installed: ${message}`);
  }

  async #isInstalled(): Promise<boolean> {
    const pages = this.#options.kube.listPages(BACKEND_RECORDS, {}, this.#ending.signal, 1);
    try {
      await pages.next();
      return true;
    } catch (error) {
      if (isFailure(error, "notFound")) return false;
      throw error;
    }
  }

  async #begin(): Promise<void> {
    const parts = assemble(this.#options);
    this.#running = parts.cache.run(this.#ending.signal);
    await Promise.race([parts.cache.synced, this.#running]);
    if (this.#ending.signal.aborted) return;
    this.#parts = parts;
    parts.wakeUps.start();
    for (const loop of parts.loops) loop.start();
    void parts.states.sync("resync");
    this.#options.log.info("LBCF is running");
  }
}

interface Parts {
  readonly cache: LbcfCache;
  readonly wakeUps: WakeUps;
  readonly states: BackendStates;
  readonly loops: readonly LbcfLoop[];
}

function assemble(options: LbcfPartOptions): Parts {
  const { config, kube, fenced, commit, mirror, clock, random, log, retries = LBCF_RETRIES } = options;
  const { nodes, services } = options.cache;
  const metrics = new LbcfMetrics(options.metrics.registry);
  const voice = new LbcfVoice(options.recorder, log);
  const cache = new LbcfCache({ client: kube, clock, random, log });
  const nodeNamed = (name: string) => nodes.store.get(name);
  const records = cache.records.book;
  const limiter = new Limiter(WRITES_AT_A_TIME);
  const writer = new LbcfWriter({ client: fenced, records, metrics, limiter, clock });
  const batcher = new BackendBatcher(commit, clock);
  const adminStateOf = (record: BackendRecord): AdminState | undefined => {
    const name = nodeOf(cache, record);
    const node = name === undefined ? undefined : nodeNamed(name);
    return !config.enableAdminState || node === undefined ? undefined : desiredAdminState(node);
  };
  const clusterEntries = (id: string): OwnEntries => {
    const lists = [...options.cache.memberLists.store.values()];
    const known = lists.find(({ loadBalancerId }) => loadBalancerId === id.toLowerCase())?.members ?? [];
    return ownEntries([...nodes.store.values()], known);
  };
  const zones = () => mirror.zones();
  const azure = new AzureDriver({ config, commit, batcher, zones, adminStateOf, clusterEntries });
  const subjects = new SubjectReader(kube);
  const transport: WebhookTransport = async (call) => {
    options.fence.check();
    return options.webhooks(call);
  };
  const open = (driver: Driver): WebhookDriver =>
    new WebhookDriver({ ...options, driver, transport, metrics, ...subjects.asked() });
  const drivers = new Drivers({ drivers: cache.drivers.book, azure, open });
  const context = { cache, writer, drivers, voice, metrics, clock, random, retries };
  const sync = new GroupSync({
    ...context,
    records,
    cluster: new GroupCluster({ cache, services: services.store, nodes: nodes.store, client: kube }),
    brake: options.brake ?? DEFAULT_BRAKE,
  });
  const steps = new LoadBalancerSteps(context);
  const lookup = new LoadBalancerLookup({ loadBalancers: cache.loadBalancers.book, records, drivers, client: kube });
  const states = new BackendStates({ config, records, batcher, adminStateOf, log });
  const controllers = {
    driverController: new DriverController({
      ...context,
      healthEveryMs: options.healthEveryMs ?? HEALTH_EVERY_MS,
      onUsable: (key) => wakeUps.driverUsable(key),
    }),
    loadBalancers: new LoadBalancerController({ ...context, steps }),
    groups: new GroupController({ ...context, sync, lookup, client: kube }),
    records: new RecordController({ ...context, nodeNamed, isForgotten: (record) => isForgotten(cache, record) }),
    binds: new BindController({ ...context, sync, steps }),
    gates: new GateController(context),
  };
  const wakeUps: WakeUps = new WakeUps({ cache, nodes, services, drivers, sync, steps, states, ...controllers });
  metrics.watchQueues({
    driver: () => controllers.driverController.loop.stats(),
    loadbalancer: () => controllers.loadBalancers.loop.stats(),
    backendgroup: () => controllers.groups.loop.stats(),
    backendrecord: () => controllers.records.loop.stats(),
    bind: () => controllers.binds.loop.stats(),
  });
  return { cache, wakeUps, states, loops: Object.values(controllers).map(({ loop }) => loop) };
}

/** The node that a backend runs on, or is. */
function nodeOf(cache: LbcfCache, { metadata: { namespace }, spec: { backend } }: BackendRecord): string | undefined {
  if (backend.kind === "Service") return backend.nodeName;
  return backend.kind === "Pod" ? cache.pods.store.get(`${namespace}/${backend.name}`)?.nodeName : undefined;
}

/** By whom the load balancer is: a LoadBalancer or a Bind that somebody has let go. */
function isForgotten(cache: LbcfCache, record: BackendRecord): boolean {
  const { owner, namespace } = record.metadata;
  const holder =
    owner?.kind === "Bind"
      ? cache.binds.book.get(`${namespace}/${owner.name}`)
      : cache.loadBalancers.book.get(loadBalancerKeyOf(record));
  return holder?.metadata.annotations?.[ANNOTATION.forget] === "true";
}
