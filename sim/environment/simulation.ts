/**
 * The environment of one history: the simulated Azure and Kubernetes, the users, nodes and other clients that act on them,
 * and the controller replicas. Performs actions. What must hold is `laws/`; the course of a history is
 * `campaign/run-history.ts`.
 */
import { SANDBOX_ACCOUNT } from "../../sandbox/azure/identity/account.ts";
import { cloudConfigOf } from "../../sandbox/azure/seed/cloud-config.ts";
import { seedScopeOf } from "../../sandbox/azure/seed/scope.ts";
import type { Topology } from "../../sandbox/azure/seed/topology.ts";
import { Metrics } from "../../src/controller/metrics.ts";
import type { ClusterConfig } from "../../src/core/config/cluster-config.ts";
import { parseConfig } from "../../src/core/config/parse-config.ts";
import { SimulatedArmTransport } from "../network/arm-transport.ts";
import { SimulatedAzure, type ArmWrite } from "./simulated-azure.ts";
import { LbcfUsers } from "../actions/lbcf.ts";
import { Random } from "./random.ts";
import { SimulatedKubernetes } from "./simulated-kubernetes.ts";
import { FIRST_NODES, NODE_SLOTS, type Action, type Setup } from "../campaign/history.ts";
import { ControllerInstance, LEASE_MS } from "./controller-instance.ts";
import { SimulatedKubeTransport } from "../network/kube-transport.ts";
import { SimulatedNodes, nodesOf } from "../actions/nodes.ts";
import { ExternalEditors } from "../actions/external-edits.ts";
import type { PlantedBug } from "../campaign/planted-bugs.ts";
import { resourcesOf } from "./azure-seed.ts";
import { RIVAL_CLASS } from "../actions/service-templates.ts";
import { Pods } from "../actions/pods.ts";
import { Process, Timeline } from "./timeline.ts";
import { Trace } from "./trace.ts";
import { FaultInjector } from "../network/faults.ts";
import { ServiceUsers } from "../actions/services.ts";
import type { WatchStream } from "../network/watch-stream.ts";
import type { OutgoingCall } from "../network/network.ts";

export interface SimulationOptions {
  readonly seed: number;
  readonly setup: Setup;
  readonly keepLines: boolean;
  readonly bug?: PlantedBug | undefined;
}

/** Is notified of everything that the laws judge. */
export interface SimulationListener {
  onWrite(write: ArmWrite): void;
  onSettled(): void;
  onSend(call: OutgoingCall): void;
  onDelivered(process: Process, collection: string, revision: number): void;
  /** A controller process failed. */
  onFailure(process: string, error: unknown): void;
}

/** One replica of a controller; after a crash or a restart it runs in a new process. */
interface Replica {
  readonly name: string;
  readonly classFilter: string | undefined;
  readonly isElected: boolean;
  instance: ControllerInstance | undefined;
  /** No process runs before that time. */
  downUntilMs: number;
}

/** Shared by all histories: no decision reads metrics. */
const METRICS = new Metrics();
const RESTART_MS = 1_000;

export class Simulation {
  readonly timeline = new Timeline();
  readonly trace: Trace;
  readonly faults: FaultInjector;
  readonly azure: SimulatedAzure;
  readonly cluster: SimulatedKubernetes;
  readonly config: ClusterConfig;
  readonly setup: Setup;
  readonly network = seedScopeOf(SANDBOX_ACCOUNT).network;
  /** Until then an action may keep the controllers from converging. */
  disturbedMs = 0;
  /** Revision of the cluster when `restartAll` was last called. */
  restartRevision = 0;
  readonly #seed: number;
  readonly #bug: PlantedBug | undefined;
  readonly users: ServiceUsers;
  readonly nodes: SimulatedNodes;
  readonly #backends: LbcfUsers | undefined;
  readonly #editors: ExternalEditors;
  readonly #replicas: Replica[];
  readonly #streams = new Set<WatchStream>();
  readonly #networkRandom: Random;
  #listener: SimulationListener | undefined;
  #started = 0;

  constructor({ seed, setup, keepLines, bug }: SimulationOptions) {
    this.setup = setup;
    this.#seed = seed;
    this.#bug = bug;
    this.#networkRandom = Random.of(seed, "net");
    this.trace = new Trace(() => this.timeline.elapsedMs, keepLines);
    this.faults = new FaultInjector(() => this.timeline.elapsedMs);
    const sku = setup.isBasic === true ? "basic" : "standard";
    const topology: Topology = { ...setup, nodes: NODE_SLOTS, sku, foreign: setup.isShared };
    this.config = configOf(topology);
    this.azure = new SimulatedAzure({
      timeline: this.timeline,
      random: Random.of(seed, "azure"),
      onWrite: (write) => this.#listener?.onWrite(write),
      onSettled: () => this.#listener?.onSettled(),
    });
    this.azure.seed(resourcesOf(topology));
    const nodes = nodesOf(topology).slice(0, FIRST_NODES);
    this.cluster = new SimulatedKubernetes(this.timeline, Random.of(seed, "cluster"), nodes);
    this.users = new ServiceUsers(this.cluster);
    this.nodes = new SimulatedNodes(this.cluster, topology);
    const slots = nodesOf(topology).map(({ name }) => name);
    if (setup.hasBackends === true) {
      const { cluster, timeline } = this;
      const pods = new Pods({ cluster, timeline, nodes: slots, hasGates: setup.hasGates === true });
      this.#backends = new LbcfUsers(cluster, pods);
    }
    this.#editors = new ExternalEditors({ azure: this.azure, timeline: this.timeline, network: this.network, sku });
    const replica = (name: string, isElected: boolean, classFilter?: string): Replica => {
      return { name, isElected, classFilter, instance: undefined, downUntilMs: 0 };
    };
    this.#replicas = [
      replica("one", setup.isElected),
      ...(setup.isElected ? [replica("two", true)] : []),
      ...(setup.hasRival ? [replica("rival", false, RIVAL_CLASS)] : []),
    ];
  }

  /** Starts the controllers. */
  start(listener: SimulationListener): void {
    this.#listener = listener;
    for (const replica of this.#replicas) this.#startProcess(replica);
  }

  perform(action: Action): void {
    this.disturbedMs = Math.max(this.disturbedMs, this.timeline.elapsedMs);
    switch (action.do) {
      case "apply":
        return this.users.apply(action.service, action.template);
      case "delete":
        return this.users.delete(action.service);
      case "retype":
        return this.users.retype(action.service);
      case "node":
        return this.nodes.perform(action.how, action.slot, action.taint);
      case "edit":
        return this.#editors.perform(action);
      case "crash":
        return this.#crashLeader(action.downMs);
      case "restart":
        return this.#restartLeader(action.downMs);
      case "pause":
        return this.#pauseLeader(action.forMs);
      case "jump": {
        const process = this.leader?.process;
        if (process !== undefined) process.wallOffsetMs += action.byMs;
        return;
      }
      case "fault":
        return this.faults.arm(action.fault);
      case "cutWatches":
        for (const stream of this.#openStreams()) stream.cut(new Error("the connection broke"));
        return;
      case "holdWatches":
        this.disturbedMs += action.forMs;
        for (const stream of this.#openStreams())
          if (stream.collection === action.collection) stream.hold(action.forMs);
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
        return this.#backends?.perform(action);
      case "slow":
        this.disturbedMs += action.forMs;
        this.azure.slowness = action.factor;
        this.timeline.after(action.forMs, () => {
          this.azure.slowness = 1;
        });
    }
  }

  /** Removes the armed faults, resumes paused processes and starts replicas that are down. */
  endDisturbances(): void {
    this.faults.clear();
    this.azure.slowness = 1;
    for (const replica of this.#replicas) {
      replica.downUntilMs = 0;
      if (replica.instance === undefined) this.#startProcess(replica);
      else if (replica.instance.process.isPaused) this.timeline.resume(replica.instance.process);
    }
  }

  /** Kills every controller process and starts new ones, which know only what is stored. */
  restartAll(): void {
    this.restartRevision = this.cluster.api.state.revision;
    for (const replica of this.#replicas) {
      if (replica.instance !== undefined) this.crash(replica.instance.process, 0);
      this.#startProcess(replica);
    }
  }

  /** The replica without a class that holds the lease, or the only one. */
  get leader(): ControllerInstance | undefined {
    const ours = this.#replicas.filter(({ classFilter }) => classFilter === undefined);
    const holder = this.leaseHolder;
    return (ours.find(({ instance }) => instance?.process.name === holder) ?? ours[0])?.instance;
  }

  /** Name of the process that holds the lease; `undefined` before the first election, or without election. */
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
    for (const stream of this.#streams) if (stream.process === process) stream.abandon();
    const replica = this.#replicas.find(({ instance }) => instance?.process === process);
    if (replica !== undefined) this.#scheduleRestart(replica, downMs);
  }

  #scheduleRestart(replica: Replica, downMs: number): void {
    replica.instance = undefined;
    replica.downUntilMs = this.timeline.elapsedMs + downMs;
    this.timeline.after(downMs, () => {
      if (replica.instance === undefined && replica.downUntilMs <= this.timeline.elapsedMs) this.#startProcess(replica);
    });
  }

  #startProcess(replica: Replica): void {
    const process = new Process(`${replica.name}-${++this.#started}`);
    this.trace.add(`${process.name} starts`);
    const { timeline, faults, trace, cluster, azure, config } = this;
    const common = {
      timeline,
      random: this.#networkRandom,
      faults,
      trace,
      process,
      crash: (dead: Process) => this.crash(dead),
      onSend: (call: OutgoingCall) => this.#listener?.onSend(call),
    };
    const arm = new SimulatedArmTransport({ ...common, azure });
    const kube = new SimulatedKubeTransport({
      ...common,
      cluster,
      onWatch: (stream) => this.#streams.add(stream),
      onDelivered: (collection, revision) => this.#listener?.onDelivered(process, collection, revision),
    });
    replica.instance = new ControllerInstance({
      process,
      timeline,
      random: Random.of(this.#seed, process.name),
      config,
      arm: this.#bug?.arm?.(arm, this) ?? arm,
      kube: this.#bug?.kube?.(kube, this) ?? kube,
      ...(this.#bug?.fenceOf !== undefined && { fenceOf: this.#bug.fenceOf }),
      metrics: this.#backends === undefined ? METRICS : new Metrics(), // LBCF registers its own metrics, which a registry accepts once
      classFilter: replica.classFilter,
      isElected: replica.isElected,
      hasBackends: this.#backends !== undefined && replica.classFilter === undefined,
      onEnd: (ended, end) => {
        if (ended.isDead) return;
        if (typeof end === "object") this.#listener?.onFailure(ended.name, end.error);
        this.trace.add(`${ended.name} ends: ${typeof end === "object" ? String(end.error) : end}`);
        this.crash(ended, Math.max(RESTART_MS, replica.downUntilMs - timeline.elapsedMs));
      },
    });
    replica.instance.start();
  }

  #crashLeader(downMs: number): void {
    const process = this.leader?.process;
    if (process !== undefined) this.crash(process, downMs);
  }

  #restartLeader(downMs: number): void {
    const replica = this.#replicas.find(({ instance }) => instance !== undefined && instance === this.leader);
    if (replica?.instance === undefined) return;
    replica.downUntilMs = this.timeline.elapsedMs + downMs;
    replica.instance.stop();
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

  #openStreams(): WatchStream[] {
    for (const stream of this.#streams) if (!stream.isOpen) this.#streams.delete(stream);
    return [...this.#streams];
  }
}

const CLUSTER_NAME = "kubernetes";

/** One object per topology: the core memoizes by its identity. */
const configs = new Map<string, ClusterConfig>();

function configOf(topology: Topology): ClusterConfig {
  const key = JSON.stringify(topology);
  const known = configs.get(key);
  if (known !== undefined) return known;
  const endpoints = { armEndpoint: "https://management.azure.com", plainUrl: "", caFile: "" };
  const parsed = parseConfig(cloudConfigOf(SANDBOX_ACCOUNT, topology, endpoints), {
    clusterName: CLUSTER_NAME,
    environment: {},
  });
  if (parsed.kind === "invalid") throw new Error(`the simulated cloud config: ${parsed.errors.join("; ")}`);
  configs.set(key, parsed.config);
  return parsed.config;
}
