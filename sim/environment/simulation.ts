/**
 * The environment of one history: the simulated Azure and Kubernetes, the users, nodes and other clients that act on them,
 * and the controller replicas. Performs actions. What must hold is `laws/`; the course of a history is
 * `campaign/run-history.ts`.
 */
import { SANDBOX_ACCOUNT } from "../../sandbox/azure/identity/account.ts";
import { cloudConfigOf } from "../../sandbox/azure/seed/cloud-config.ts";
import { seedScopeOf } from "../../sandbox/azure/seed/scope.ts";
import type { Topology } from "../../sandbox/azure/seed/topology.ts";
import type { ClusterConfig } from "../../src/core/config/cluster-config.ts";
import { parseConfig } from "../../src/core/config/parse-config.ts";
import { SimulatedAzure, type ArmWrite } from "./simulated-azure.ts";
import { LbcfUsers } from "../actions/lbcf.ts";
import { PlacementUsers } from "../actions/placement.ts";
import { Random } from "./random.ts";
import { SimulatedKubernetes } from "./simulated-kubernetes.ts";
import { FIRST_NODES, NODE_SLOTS, type Action, type Setup } from "../campaign/history.ts";
import { ControllerReplicas } from "./controller-replicas.ts";
import { SimulatedMachines } from "../actions/machines.ts";
import { SimulatedNodes, nodesOf } from "../actions/nodes.ts";
import { ExternalEditors } from "../actions/external-edits.ts";
import type { PlantedBug } from "../campaign/planted-bugs.ts";
import { resourcesOf } from "./azure-seed.ts";
import { severalConfigOf } from "./several-load-balancers.ts";
import { Pods } from "../actions/pods.ts";
import { type Process, Timeline } from "./timeline.ts";
import { Trace } from "./trace.ts";
import { FaultInjector, type Fault } from "../network/faults.ts";
import { ServiceUsers } from "../actions/services.ts";
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
  onFault(call: OutgoingCall, fault: Fault): void;
  onDelivered(process: Process, collection: string, revision: number): void;
  /** A controller process failed. */
  onFailure(process: string, error: unknown): void;
}

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
  /** How long faults had an effect before `endDisturbances` was last called. */
  troubledMs = 0;
  readonly users: ServiceUsers;
  readonly nodes: SimulatedNodes;
  readonly #backends: LbcfUsers | undefined;
  readonly #placement: PlacementUsers;
  readonly #editors: ExternalEditors;
  readonly #replicas: ControllerReplicas;
  #listener: SimulationListener | undefined;

  constructor({ seed, setup, keepLines, bug }: SimulationOptions) {
    this.setup = setup;
    this.trace = new Trace(() => this.timeline.elapsedMs, keepLines);
    this.faults = new FaultInjector(() => this.timeline.elapsedMs);
    const sku = setup.isBasic === true ? "basic" : "standard";
    const topology: Topology = { ...setup, nodes: NODE_SLOTS, sku, foreign: setup.isShared, dualStack: false };
    this.config = configOf(topology, setup);
    this.azure = new SimulatedAzure({
      timeline: this.timeline,
      random: Random.of(seed, "azure"),
      onWrite: (write) => this.#listener?.onWrite(write),
      onSettled: () => this.#listener?.onSettled(),
    });
    const { timeline, azure } = this;
    const isLate = setup.hasLateMachines === true;
    this.azure.seed(resourcesOf(isLate ? { ...topology, nodes: FIRST_NODES } : topology));
    const machines = isLate ? new SimulatedMachines({ azure, timeline, topology, first: FIRST_NODES }) : undefined;
    const nodes = nodesOf(topology, setup).slice(0, FIRST_NODES);
    this.cluster = new SimulatedKubernetes(this.timeline, Random.of(seed, "cluster"), nodes);
    this.users = new ServiceUsers(this.cluster);
    this.nodes = new SimulatedNodes(this.cluster, nodesOf(topology, setup), topology, machines);
    const slots = nodesOf(topology, setup).map(({ name }) => name);
    if (setup.hasBackends === true) {
      const { cluster } = this;
      const pods = new Pods({ cluster, timeline, nodes: slots, hasGates: setup.hasGates === true });
      this.#backends = new LbcfUsers(cluster, pods);
    }
    this.#placement = new PlacementUsers(this.cluster, slots);
    this.#editors = new ExternalEditors({ azure: this.azure, timeline: this.timeline, network: this.network, sku });
    this.#replicas = new ControllerReplicas({
      simulation: this,
      seed,
      bug,
      hasBackends: this.#backends !== undefined,
      listener: () => this.#listener,
    });
  }

  /** Starts the controllers. */
  start(listener: SimulationListener): void {
    this.#listener = listener;
    this.#replicas.start();
  }

  perform(action: Action): void {
    this.disturbedMs = Math.max(this.disturbedMs, this.timeline.elapsedMs);
    this.azure.isPrompt = action.do === "calm";
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
        return this.#replicas.crashLeader(action.downMs);
      case "restart":
        return this.#replicas.restartLeader(action.downMs);
      case "pause":
        return this.#replicas.pauseLeader(action.forMs);
      case "jump":
        return this.#replicas.jumpClock(action.byMs);
      case "fault":
        return this.faults.arm(action.fault);
      case "outage":
        return this.faults.begin(action);
      case "calm":
        return this.endDisturbances();
      case "cutWatches":
        for (const stream of this.#replicas.openStreams()) stream.cut(new Error("the connection broke"));
        return;
      case "holdWatches":
        this.disturbedMs += action.forMs;
        for (const stream of this.#replicas.openStreams())
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
      case "endpoints":
      case "label":
        return this.#placement.perform(action);
      case "slow":
        this.disturbedMs += action.forMs;
        this.azure.slowness = action.factor;
        this.timeline.after(action.forMs, () => {
          this.azure.slowness = 1;
        });
    }
  }

  /** Removes the armed faults, ends outages, resumes paused processes and starts replicas that are down. */
  endDisturbances(): void {
    this.troubledMs = this.faults.clear();
    this.azure.slowness = 1;
    this.#replicas.resumeAll();
  }

  /** Kills every controller process and starts new ones, which know only what is stored. */
  restartAll(): void {
    this.restartRevision = this.cluster.api.state.revision;
    this.#replicas.restartAll();
  }

  /** Since the end of the last disturbance: of actions, faults, and operations of Azure that they left running. */
  get calmSinceMs(): number {
    return Math.max(this.disturbedMs, this.faults.lastHitMs, this.azure.busyUntilMs);
  }

  /** Name of the process that holds the lease; `undefined` before the first election, or without election. */
  get leaseHolder(): string | undefined {
    return this.#replicas.leaseHolder;
  }
}

const CLUSTER_NAME = "kubernetes";

/** One object per topology: the core memoizes by its identity. */
const configs = new Map<string, ClusterConfig>();

function configOf(topology: Topology, setup: Setup): ClusterConfig {
  const more = severalConfigOf(setup);
  const key = JSON.stringify([topology, more]);
  const known = configs.get(key);
  if (known !== undefined) return known;
  const endpoints = { armEndpoint: "https://management.azure.com", plainUrl: "", caFile: "" };
  const parsed = parseConfig(
    { ...cloudConfigOf(SANDBOX_ACCOUNT, topology, endpoints), ...more },
    {
      clusterName: CLUSTER_NAME,
      environment: {},
    },
  );
  if (parsed.kind === "invalid") throw new Error(`the simulated cloud config: ${parsed.errors.join("; ")}`);
  configs.set(key, parsed.config);
  return parsed.config;
}
