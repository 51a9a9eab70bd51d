/**
 * Thousands of backends through LBCF's (lb-controlling-framework) driver `lbcf-azure`: writes to Azure, time and memory of the
 * first registration; writes and memory after a restart; and failed new connections during a rolling restart under traffic.
 * The thresholds of time and memory are those of 10,000 pods and the controller as it is shipped.
 *
 * The pods exist before the controller starts, so that all of them are registered at once. The rolling restart replaces a
 * tenth of them at a time, as a Deployment does: new pods first, the old ones once the readiness gates of the new are open.
 */
import { setTimeout as delay } from "node:timers/promises";

import { atMost, type BenchReport } from "../report.ts";
import type { AuditEntry } from "../support/azure-control.ts";
import {
  type BackendCluster,
  type BackendPod,
  createGroups,
  createPod,
  forAll,
  frontendPort,
  GRACE_SECONDS,
  isGateOpen,
  mapPods,
  openBackendCluster,
  podAt,
  removePod,
  terminatePod,
  untilRegistered,
} from "../backends/backend-cluster.ts";
import { cpuMs, peakRssMb, rssMb } from "../support/process-usage.ts";
import { timeOfWritesAlone } from "../backends/writes-alone.ts";
import { ConnectingClients, startGreeter } from "../backends/connecting-clients.ts";
import { shippedController } from "../support/shipped-controller.ts";
import { type ControllerProcess, startControllerProcess } from "../support/sandbox-process.ts";

export interface BackendsOptions {
  readonly pods: number;
  readonly groups: number;
  readonly loadBalancers: number;
  /** How many pods of the first load balancer are restarted. */
  readonly rolling: number;
  readonly latency: string;
  readonly shipped: boolean;
}

/** Writes to Azure per load balancer for the first registration of all its backends. */
const MOST_WRITES = 20;
/** Of the controller as it is shipped, with 10,000 pods. */
const PROMISED = { pods: 10_000, registeredMb: 400, restartedMb: 250, rolling: 1_000, rollingWrites: 45 };
/** Of the time that the same writes take when nothing is decided between them. */
const MOST_TIMES_THE_WRITES = 1.5;
const WITHIN_MS = 1_800_000;
const STEPS = 10;
const CLIENTS = 10;
const CONNECT_EVERY_MS = 100;
/** Long enough for a restarted controller to write, if it had anything to write. */
const AFTER_RESTART_MS = 10_000;

export async function benchBackends(options: BackendsOptions): Promise<BenchReport> {
  const cluster = await openBackendCluster(options.latency);
  let controller: ControllerProcess | undefined;
  const command = options.shipped ? shippedController() : undefined;
  const start = (): ControllerProcess => startControllerProcess(cluster, [], {}, command);
  try {
    const pods = Array.from({ length: options.pods }, (_, at) => podAt(at, options.groups));
    await createGroups(cluster.client, options.loadBalancers, options.groups);
    await forAll(pods, (pod) => createPod(cluster.client, pod));
    const aloneMs = await timeOfWritesAlone(cluster.client, cluster.connection, pods);
    controller = start();
    const registeredMs = await untilRegistered(cluster.client, options.pods, WITHIN_MS);
    const writes = writesPerLoadBalancer(await cluster.control.audit());
    const rss = rssMb(controller.pid);
    const peak = peakRssMb(controller.pid);
    const cpu = cpuMs(controller.pid);
    await controller.close();
    controller = start();
    const restartWrites = await writesDuring(cluster, () => delay(AFTER_RESTART_MS));
    const restartedRss = rssMb(controller.pid);
    const rolled = options.rolling === 0 ? undefined : await rollingRestart(cluster, options, pods);
    return {
      scenario: "backends",
      figures: {
        pods: options.pods,
        "time to register all, s": registeredMs / 1_000,
        "the same writes alone, s": aloneMs / 1_000,
        "CPU of the controller for that, s": cpu / 1_000,
        "backends per write": options.pods / sum(writes),
        "controller RSS when all are registered, MB": rss,
        "... at most until then, MB": peak,
        "controller RSS after a restart, MB": restartedRss,
        "writes after a restart": restartWrites,
        ...rolled?.figures,
      },
      bars: {
        "writes per load balancer": atMost(Math.max(...writes), MOST_WRITES),
        "times the writes alone": atMost(registeredMs / aloneMs, MOST_TIMES_THE_WRITES),
        ...(options.shipped && promised(options, rss, restartedRss)),
        ...(rolled !== undefined && { "failed new connections": atMost(rolled.failures, 0) }),
        ...(options.rolling === PROMISED.rolling &&
          rolled !== undefined && { "writes of the rolling restart": atMost(rolled.writes, PROMISED.rollingWrites) }),
      },
    };
  } finally {
    await controller?.close();
    await cluster.close();
  }
}

function promised({ pods }: BackendsOptions, registeredMb: number, restartedMb: number): BenchReport["bars"] {
  if (pods !== PROMISED.pods) return {};
  return {
    "controller RSS when all are registered, MB": atMost(registeredMb, PROMISED.registeredMb),
    "controller RSS after a restart, MB": atMost(restartedMb, PROMISED.restartedMb),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Counts writes of load balancers and their pools. */
function writesPerLoadBalancer(entries: readonly AuditEntry[]): readonly number[] {
  const counts = new Map<string, number>();
  for (const { verb, path, poll } of entries) {
    const name = /\/loadbalancers\/([^/]+)/.exec(path.toLowerCase())?.[1];
    if (name !== undefined && !poll && verb === "PUT") counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts.values()];
}

async function writesDuring({ control }: BackendCluster, work: () => Promise<unknown>): Promise<number> {
  const before = await control.lastSequence();
  await work();
  return sum(writesPerLoadBalancer(await control.audit(before)));
}

interface Rolled {
  readonly failures: number;
  readonly writes: number;
  readonly figures: Readonly<Record<string, number>>;
}

/** Restarts pods of the first load balancer while clients connect to it. */
async function rollingRestart(
  cluster: BackendCluster,
  { groups, loadBalancers, rolling }: BackendsOptions,
  pods: readonly BackendPod[],
): Promise<Rolled> {
  const greeter = await startGreeter();
  const inFirst = pods.filter(({ group }) => group % loadBalancers === 0);
  await mapPods(cluster, inFirst, greeter.port);
  const old = inFirst.slice(0, rolling);
  const clients = new ConnectingClients(await frontendPort(cluster), CLIENTS, CONNECT_EVERY_MS);
  const startMs = performance.now();
  const endings: Promise<void>[] = [];
  const writes = await writesDuring(cluster, async () => {
    for (let step = 0; step < STEPS; step++) {
      const leaving = old.filter((_, at) => at % STEPS === step);
      const coming = leaving.map(({ group }, at) => {
        return { ...podAt(pods.length + step * rolling + at, groups), group };
      });
      await mapPods(cluster, coming, greeter.port);
      await forAll(coming, (pod) => createPod(cluster.client, pod));
      await untilOpen(cluster, coming);
      endings.push(endPods(cluster, leaving));
    }
    await Promise.all(endings);
    await untilRegistered(cluster.client, pods.length, WITHIN_MS);
  });
  await clients.stop();
  await greeter.close();
  return {
    failures: clients.failures,
    writes,
    figures: {
      "rolling: pods": rolling,
      "rolling: time, s": (performance.now() - startMs) / 1_000,
      "rolling: writes": writes,
      "rolling: new connections": clients.connections,
      "rolling: refused": clients.refused,
      "rolling: unanswered": clients.unanswered,
      "rolling: slowest new connection, s": clients.slowestMs / 1_000,
    },
  };
}

/** The pods serve for their grace period; then they stop listening and are deleted. */
async function endPods(cluster: BackendCluster, pods: readonly BackendPod[]): Promise<void> {
  await forAll(pods, (pod) => terminatePod(cluster, pod));
  await delay(GRACE_SECONDS * 1_000);
  await mapPods(cluster, pods, null);
  await forAll(pods, (pod) => removePod(cluster, pod));
}

async function untilOpen({ client }: BackendCluster, pods: readonly BackendPod[]): Promise<void> {
  await forAll(pods, async (pod) => {
    while (!(await isGateOpen(client, pod))) await delay(200);
  });
}
