/**
 * The controller replicas of a simulation: starts, kills, restarts and pauses their processes, and connects each process to
 * the simulated servers. Which replicas there are follows from the configuration of the cluster.
 */
import { Metrics } from "../../src/controller/metrics.ts";
import { RIVAL_CLASS } from "../actions/service-templates.ts";
import type { PlantedBug } from "../campaign/planted-bugs.ts";
import { SimulatedArmTransport } from "../network/arm-transport.ts";
import { SimulatedKubeTransport } from "../network/kube-transport.ts";
import type { Fault } from "../network/faults.ts";
import type { OutgoingCall } from "../network/network.ts";
import type { WatchStream } from "../network/watch-stream.ts";
import { ControllerInstance, LEASE_MS } from "./controller-instance.ts";
import { Random } from "./random.ts";
import type { Simulation, SimulationListener } from "./simulation.ts";
import { Process } from "./timeline.ts";

export interface ControllerReplicasOptions {
  readonly simulation: Simulation;
  readonly seed: number;
  readonly bug: PlantedBug | undefined;
  readonly hasBackends: boolean;
  readonly listener: () => SimulationListener | undefined;
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

export class ControllerReplicas {
  readonly #options: ControllerReplicasOptions;
  readonly #replicas: readonly Replica[];
  readonly #streams = new Set<WatchStream>();
  readonly #networkRandom: Random;
  #started = 0;

  constructor(options: ControllerReplicasOptions) {
    const { seed, simulation } = options;
    const { isElected, hasRival } = simulation.setup;
    this.#options = options;
    this.#networkRandom = Random.of(seed, "net");
    const replica = (name: string, isCandidate: boolean, classFilter?: string): Replica => {
      return { name, isElected: isCandidate, classFilter, instance: undefined, downUntilMs: 0 };
    };
    this.#replicas = [
      replica("one", isElected),
      ...(isElected ? [replica("two", true)] : []),
      ...(hasRival ? [replica("rival", false, RIVAL_CLASS)] : []),
    ];
  }

  start(): void {
    for (const replica of this.#replicas) this.#startProcess(replica);
  }

  /** Resumes paused processes and starts replicas that are down. */
  resumeAll(): void {
    for (const replica of this.#replicas) {
      replica.downUntilMs = 0;
      if (replica.instance === undefined) this.#startProcess(replica);
      else if (replica.instance.process.isPaused) this.#options.simulation.timeline.resume(replica.instance.process);
    }
  }

  /** Kills every process and starts new ones, which know only what is stored. */
  restartAll(): void {
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
    const lease = this.#options.simulation.cluster.object("leases.coordination.k8s.io", "kube-system/azlb-controller");
    return (lease?.["spec"] as { holderIdentity?: string } | undefined)?.holderIdentity;
  }

  crash(process: Process, downMs = RESTART_MS): void {
    const { simulation } = this.#options;
    if (process.isDead) return;
    process.isDead = true;
    process.endedMs = Math.min(process.endedMs, simulation.timeline.elapsedMs);
    this.#awaitTakeover(downMs);
    simulation.trace.add(`${process.name} is killed`);
    for (const stream of this.#streams) if (stream.process === process) stream.abandon();
    const replica = this.#replicas.find(({ instance }) => instance?.process === process);
    if (replica !== undefined) this.#scheduleRestart(replica, downMs);
  }

  /** Until another process leads, at the latest, once the leader has ended after so long. */
  #awaitTakeover(afterMs: number): void {
    const { simulation } = this.#options;
    const takeoverMs = simulation.setup.isElected ? LEASE_MS.leaseDurationMs + 3 * LEASE_MS.retryPeriodMs : 0;
    simulation.disturbedMs = Math.max(simulation.disturbedMs, simulation.timeline.elapsedMs + afterMs + takeoverMs);
  }

  #scheduleRestart(replica: Replica, downMs: number): void {
    const { timeline } = this.#options.simulation;
    replica.instance = undefined;
    replica.downUntilMs = timeline.elapsedMs + downMs;
    timeline.after(downMs, () => {
      if (replica.instance === undefined && replica.downUntilMs <= timeline.elapsedMs) this.#startProcess(replica);
    });
  }

  #startProcess(replica: Replica): void {
    const process = new Process(`${replica.name}-${++this.#started}`);
    this.#options.simulation.trace.add(`${process.name} starts`);
    const { seed, bug, hasBackends, listener, simulation } = this.#options;
    const { timeline, faults, trace, cluster, azure, config } = simulation;
    const common = {
      timeline,
      random: this.#networkRandom,
      faults,
      trace,
      process,
      crash: (dead: Process) => this.crash(dead),
      onSend: (call: OutgoingCall) => listener()?.onSend(call),
      onFault: (call: OutgoingCall, fault: Fault) => listener()?.onFault(call, fault),
    };
    const arm = new SimulatedArmTransport({ ...common, azure });
    const kube = new SimulatedKubeTransport({
      ...common,
      cluster,
      onWatch: (stream) => this.#streams.add(stream),
      onDelivered: (collection, revision) => listener()?.onDelivered(process, collection, revision),
    });
    replica.instance = new ControllerInstance({
      process,
      timeline,
      random: Random.of(seed, process.name),
      config,
      arm: bug?.arm?.(arm, simulation) ?? arm,
      kube: bug?.kube?.(kube, simulation) ?? kube,
      ...(bug?.fenceOf !== undefined && { fenceOf: bug.fenceOf }),
      // LBCF registers its own metrics, which a registry accepts once
      metrics: hasBackends ? new Metrics() : METRICS,
      classFilter: replica.classFilter,
      isElected: replica.isElected,
      hasBackends: hasBackends && replica.classFilter === undefined,
      isWithoutDriftCheck: simulation.setup.isWithoutDriftCheck === true,
      onEnd: (ended, end) => {
        if (ended.isDead) return;
        if (typeof end === "object") listener()?.onFailure(ended.name, end.error);
        trace.add(`${ended.name} ends: ${typeof end === "object" ? String(end.error) : end}`);
        this.crash(ended, Math.max(RESTART_MS, replica.downUntilMs - timeline.elapsedMs));
      },
    });
    replica.instance.start();
  }

  crashLeader(downMs: number): void {
    const process = this.leader?.process;
    if (process !== undefined) this.crash(process, downMs);
  }

  restartLeader(downMs: number): void {
    const replica = this.#replicas.find(({ instance }) => instance !== undefined && instance === this.leader);
    if (replica?.instance === undefined) return;
    const { elapsedMs } = this.#options.simulation.timeline;
    replica.downUntilMs = elapsedMs + downMs;
    replica.instance.process.endedMs = elapsedMs;
    replica.instance.stop();
  }

  /** A leader whose clock says that it has not renewed in time ends, as if it had slept, when it would next renew. */
  jumpClock(byMs: number): void {
    const process = this.leader?.process;
    if (process === undefined) return;
    process.wallOffsetMs += byMs;
    if (byMs + LEASE_MS.retryPeriodMs > LEASE_MS.renewDeadlineMs) this.#awaitTakeover(LEASE_MS.retryPeriodMs);
  }

  pauseLeader(forMs: number): void {
    const process = this.leader?.process;
    if (process === undefined) return;
    const { simulation } = this.#options;
    process.isPaused = true;
    // it finds its lease expired when it goes on
    if (simulation.setup.isElected && forMs > LEASE_MS.renewDeadlineMs) process.endedMs = simulation.timeline.elapsedMs;
    simulation.disturbedMs += forMs;
    simulation.timeline.after(forMs, () => {
      if (!process.isDead) simulation.timeline.resume(process);
    });
  }

  /** The open watches of all processes. */
  openStreams(): WatchStream[] {
    for (const stream of this.#streams) if (!stream.isOpen) this.#streams.delete(stream);
    return [...this.#streams];
  }
}
