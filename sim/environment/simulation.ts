/**
 * Where a history takes place: Azure, a cluster, the people and machines of both, and the controllers between. Performs
 * deeds; what must hold is `laws/`'s, and the course of a history `run-history.ts`'s.
 */
import { SANDBOX_ACCOUNT } from "../../sandbox/azure/identity/account.ts";
import { cloudConfigOf } from "../../sandbox/azure/seed/cloud-config.ts";
import { seedScopeOf } from "../../sandbox/azure/seed/scope.ts";
import type { Topology } from "../../sandbox/azure/seed/topology.ts";
import { Metrics } from "../../src/controller/metrics.ts";
import type { ClusterConfig } from "../../src/core/config/cluster-config.ts";
import { parseConfig } from "../../src/core/config/parse-config.ts";
import { ArmWire } from "../network/arm-transport.ts";
import { AzureSide, type ArmWrite } from "./simulated-azure.ts";
import { BackendUsers } from "../actions/lbcf.ts";
import { Chance } from "./random.ts";
import { ClusterSide } from "./simulated-kubernetes.ts";
import { FIRST_NODES, NODE_SLOTS, type Deed, type Setup } from "../campaign/history.ts";
import { Instance, LEASE_MS } from "./controller-instance.ts";
import { KubeWire } from "../network/kube-transport.ts";
import { Machines, nodesOf } from "../actions/nodes.ts";
import { Meddlers } from "../actions/external-edits.ts";
import type { PlantedBug } from "../campaign/planted-bugs.ts";
import { resourcesOf } from "./azure-seed.ts";
import { RIVAL_CLASS } from "../actions/service-templates.ts";
import { Pods } from "../actions/pods.ts";
import { Process, Timeline } from "./timeline.ts";
import { Trace } from "./trace.ts";
import { TroubleBoard } from "../network/faults.ts";
import { Users } from "../actions/services.ts";
import type { WatchFeed } from "../network/watch-stream.ts";
import type { Leaving } from "../network/network.ts";

export interface WorldOptions {
  readonly seed: number;
  readonly setup: Setup;
  readonly keepsLines: boolean;
  readonly bug?: PlantedBug | undefined;
}

/** Who is told of what happens, to judge it. */
export interface Witness {
  onWrite(write: ArmWrite): void;
  onSettled(): void;
  onSend(leaving: Leaving): void;
  onTold(process: Process, collection: string, revision: number): void;
  /** A controller ended by an error of its own. */
  onFailure(whose: string, error: unknown): void;
}

/** A place that a controller process runs in; after a crash another process takes it. */
interface Seat {
  readonly name: string;
  readonly classFilter: string | undefined;
  readonly isElected: boolean;
  instance: Instance | undefined;
  /** No process before. */
  downUntilMs: number;
}

/** Figures that no decision reads: one set serves all histories. */
const METRICS = new Metrics();
const RESTART_MS = 1_000;

export class World {
  readonly timeline = new Timeline();
  readonly trace: Trace;
  readonly troubles: TroubleBoard;
  readonly azure: AzureSide;
  readonly cluster: ClusterSide;
  readonly config: ClusterConfig;
  readonly setup: Setup;
  readonly network = seedScopeOf(SANDBOX_ACCOUNT).network;
  /** Until when somebody disturbs the controllers, or something goes wrong. */
  disturbedMs = 0;
  /** The version of the cluster's state when the controllers were last started anew. */
  afreshRevision = 0;
  readonly #seed: number;
  readonly #bug: PlantedBug | undefined;
  readonly users: Users;
  readonly machines: Machines;
  readonly #backends: BackendUsers | undefined;
  readonly #meddlers: Meddlers;
  readonly #seats: Seat[];
  readonly #feeds = new Set<WatchFeed>();
  readonly #net: Chance;
  #witness: Witness | undefined;
  #started = 0;

  constructor({ seed, setup, keepsLines, bug }: WorldOptions) {
    this.setup = setup;
    this.#seed = seed;
    this.#bug = bug;
    this.#net = Chance.of(seed, "net");
    this.trace = new Trace(() => this.timeline.elapsedMs, keepsLines);
    this.troubles = new TroubleBoard(() => this.timeline.elapsedMs);
    const sku = setup.isBasic === true ? "basic" : "standard";
    const topology: Topology = { ...setup, nodes: NODE_SLOTS, sku, foreign: setup.isShared };
    this.config = configOf(topology);
    this.azure = new AzureSide({
      timeline: this.timeline,
      chance: Chance.of(seed, "azure"),
      onWrite: (write) => this.#witness?.onWrite(write),
      onSettled: () => this.#witness?.onSettled(),
    });
    this.azure.plant(resourcesOf(topology));
    const nodes = nodesOf(topology).slice(0, FIRST_NODES);
    this.cluster = new ClusterSide(this.timeline, Chance.of(seed, "cluster"), nodes);
    this.users = new Users(this.cluster);
    this.machines = new Machines(this.cluster, topology);
    const slots = nodesOf(topology).map(({ name }) => name);
    if (setup.hasBackends === true) {
      const { cluster, timeline } = this;
      const pods = new Pods({ cluster, timeline, nodes: slots, hasGates: setup.hasGates === true });
      this.#backends = new BackendUsers(cluster, pods);
    }
    this.#meddlers = new Meddlers({ azure: this.azure, timeline: this.timeline, network: this.network, sku });
    const seat = (name: string, isElected: boolean, classFilter?: string): Seat => {
      return { name, isElected, classFilter, instance: undefined, downUntilMs: 0 };
    };
    this.#seats = [
      seat("one", setup.isElected),
      ...(setup.isElected ? [seat("two", true)] : []),
      ...(setup.hasRival ? [seat("rival", false, RIVAL_CLASS)] : []),
    ];
  }

  /** The controllers begin. */
  start(witness: Witness): void {
    this.#witness = witness;
    for (const seat of this.#seats) this.#launch(seat);
  }

  perform(deed: Deed): void {
    this.disturbedMs = Math.max(this.disturbedMs, this.timeline.elapsedMs);
    switch (deed.do) {
      case "apply":
        return this.users.apply(deed.service, deed.shape);
      case "delete":
        return this.users.delete(deed.service);
      case "retype":
        return this.users.retype(deed.service);
      case "node":
        return this.machines.perform(deed.how, deed.slot, deed.taint);
      case "meddle":
        return this.#meddlers.meddle(deed);
      case "crash":
        return this.#crashLeader(deed.downMs);
      case "restart":
        return this.#restartLeader(deed.downMs);
      case "pause":
        return this.#pauseLeader(deed.forMs);
      case "jump": {
        const process = this.leader?.process;
        if (process !== undefined) process.wallOffsetMs += deed.byMs;
        return;
      }
      case "trouble":
        return this.troubles.arm(deed.trouble);
      case "cutWatches":
        for (const feed of this.#openFeeds()) feed.cut(new Error("the connection broke"));
        return;
      case "holdWatches":
        this.disturbedMs += deed.forMs;
        for (const feed of this.#openFeeds()) if (feed.collection === deed.collection) feed.hold(deed.forMs);
        return;
      case "compact":
        return this.cluster.api.compact();
      case "pod":
      case "group":
      case "balancer":
      case "dropGroup":
      case "dropBalancer":
      case "bind":
      case "dropBind":
        return this.#backends?.perform(deed);
      case "slow":
        this.disturbedMs += deed.forMs;
        this.azure.slowness = deed.factor;
        this.timeline.after(deed.forMs, () => {
          this.azure.slowness = 1;
        });
    }
  }

  /** No more misfortune: what is armed is gone, what sleeps wakes, what is down comes up. */
  calm(): void {
    this.troubles.clear();
    this.azure.slowness = 1;
    for (const seat of this.#seats) {
      seat.downUntilMs = 0;
      if (seat.instance === undefined) this.#launch(seat);
      else if (seat.instance.process.isPaused) this.timeline.resume(seat.instance.process);
    }
  }

  /** Kills every controller and starts new ones, which know nothing but what is stored. */
  startAfresh(): void {
    this.afreshRevision = this.cluster.api.state.revision;
    for (const seat of this.#seats) {
      if (seat.instance !== undefined) this.crash(seat.instance.process, 0);
      this.#launch(seat);
    }
  }

  /** Of our class: whoever holds the lease, or the single one. */
  get leader(): Instance | undefined {
    const ours = this.#seats.filter(({ classFilter }) => classFilter === undefined);
    const holder = this.leaseHolder;
    return (ours.find(({ instance }) => instance?.process.name === holder) ?? ours[0])?.instance;
  }

  /** Who holds the lease at this moment; `undefined` where nobody ever did, or there is no election. */
  get leaseHolder(): string | undefined {
    const lease = this.cluster.object("leases.coordination.k8s.io", "kube-system/azlb-controller");
    return (lease?.["spec"] as { holderIdentity?: string } | undefined)?.holderIdentity;
  }

  crash(process: Process, downMs = RESTART_MS): void {
    if (process.isDead) return;
    process.isDead = true;
    const takeoverMs = this.setup.isElected ? LEASE_MS.leaseDurationMs + 3 * LEASE_MS.retryPeriodMs : 0;
    this.disturbedMs = Math.max(this.disturbedMs, this.timeline.elapsedMs + downMs + takeoverMs);
    this.trace.add(`${process.name} is killed`);
    for (const feed of this.#feeds) if (feed.process === process) feed.abandon();
    const seat = this.#seats.find(({ instance }) => instance?.process === process);
    if (seat !== undefined) this.#vacate(seat, downMs);
  }

  #vacate(seat: Seat, downMs: number): void {
    seat.instance = undefined;
    seat.downUntilMs = this.timeline.elapsedMs + downMs;
    this.timeline.after(downMs, () => {
      if (seat.instance === undefined && seat.downUntilMs <= this.timeline.elapsedMs) this.#launch(seat);
    });
  }

  #launch(seat: Seat): void {
    const process = new Process(`${seat.name}-${++this.#started}`);
    this.trace.add(`${process.name} starts`);
    const { timeline, troubles, trace, cluster, azure, config } = this;
    const common = {
      timeline,
      chance: this.#net,
      troubles,
      trace,
      process,
      crash: (dead: Process) => this.crash(dead),
      onSend: (leaving: Leaving) => this.#witness?.onSend(leaving),
    };
    const arm = new ArmWire({ ...common, azure });
    const kube = new KubeWire({
      ...common,
      cluster,
      onFeed: (feed) => this.#feeds.add(feed),
      onTold: (collection, revision) => this.#witness?.onTold(process, collection, revision),
    });
    seat.instance = new Instance({
      process,
      timeline,
      chance: Chance.of(this.#seed, process.name),
      config,
      arm: this.#bug?.arm?.(arm, this) ?? arm,
      kube: this.#bug?.kube?.(kube, this) ?? kube,
      ...(this.#bug?.fenceOf !== undefined && { fenceOf: this.#bug.fenceOf }),
      metrics: this.#backends === undefined ? METRICS : new Metrics(), // LBCF registers its own in it, once
      classFilter: seat.classFilter,
      isElected: seat.isElected,
      hasBackends: this.#backends !== undefined && seat.classFilter === undefined,
      onEnd: (ended, end) => {
        if (ended.isDead) return;
        if (typeof end === "object") this.#witness?.onFailure(ended.name, end.error);
        this.trace.add(`${ended.name} ends: ${typeof end === "object" ? String(end.error) : end}`);
        this.crash(ended, Math.max(RESTART_MS, seat.downUntilMs - timeline.elapsedMs));
      },
    });
    seat.instance.start();
  }

  #crashLeader(downMs: number): void {
    const process = this.leader?.process;
    if (process !== undefined) this.crash(process, downMs);
  }

  #restartLeader(downMs: number): void {
    const seat = this.#seats.find(({ instance }) => instance !== undefined && instance === this.leader);
    if (seat?.instance === undefined) return;
    seat.downUntilMs = this.timeline.elapsedMs + downMs;
    seat.instance.stop();
  }

  #pauseLeader(forMs: number): void {
    const process = this.leader?.process;
    if (process === undefined) return;
    process.isPaused = true;
    this.disturbedMs += forMs;
    this.timeline.after(forMs, () => {
      if (!process.isDead) this.timeline.resume(process);
    });
  }

  #openFeeds(): WatchFeed[] {
    for (const feed of this.#feeds) if (!feed.isOpen) this.#feeds.delete(feed);
    return [...this.#feeds];
  }
}

const CLUSTER_NAME = "kubernetes";

/** The same object for equal topologies: decisions memoise by it. */
const configs = new Map<string, ClusterConfig>();

function configOf(topology: Topology): ClusterConfig {
  const key = JSON.stringify(topology);
  const known = configs.get(key);
  if (known !== undefined) return known;
  const reach = { armEndpoint: "https://management.azure.com", plainUrl: "", caFile: "" };
  const parsed = parseConfig(cloudConfigOf(SANDBOX_ACCOUNT, topology, reach), {
    clusterName: CLUSTER_NAME,
    environment: {},
  });
  if (parsed.kind === "invalid") throw new Error(`the simulated cloud config: ${parsed.errors.join("; ")}`);
  configs.set(key, parsed.config);
  return parsed.config;
}
