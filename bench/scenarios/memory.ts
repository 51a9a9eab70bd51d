/**
 * What a cluster costs the controller: resident memory at rest, after changes and under churn, and processor time per changed
 * Service. The thresholds are those of the sizes that the documents promise, for the controller as it is shipped.
 */
import type { KubeClient } from "../../src/kube/client/kube-client.ts";
import { NODES, SERVICES } from "../../src/kube/client/resources.ts";
import { realClock } from "../../src/main/real-clock.ts";
import { atMost, type BenchReport } from "../report.ts";
import { limitsFor } from "../support/limits.ts";
import { cpuMs, peakRssMb, rssMb } from "../support/process-usage.ts";
import { openSettledCluster } from "../support/settled-cluster.ts";
import { shippedController } from "../support/shipped-controller.ts";

export interface MemoryOptions {
  readonly services: number;
  readonly nodes: number;
  readonly changes: number;
  readonly shipped: boolean;
  readonly churnSeconds: number;
}

/** By nodes and Services, in MB. */
const PROMISED: Readonly<Record<string, number>> = { "100/60": 105, "2000/2000": 350 };
/** V8 gives back what it no longer needs once a process has had little to do for some seconds: only then is it at rest. */
const UNTIL_REST_MS = 15_000;
/** What the later half of a churn may have above the first: the size of one young generation. */
const FLAT_MB = 16;

export async function benchMemory(options: MemoryOptions): Promise<BenchReport> {
  const { services, nodes, changes, shipped, churnSeconds } = options;
  const cluster = await openSettledCluster(services, nodes, shipped ? { command: shippedController() } : {});
  try {
    const { pid } = cluster.controller;
    const createdMs = cpuMs(pid);
    const created = await busyAndAtRest(pid);
    const beforeMs = cpuMs(pid);
    await cluster.callsFor(() => changeServices(cluster.client, services, changes));
    const cpuPerChange = (cpuMs(pid) - beforeMs) / changes;
    const changed = await busyAndAtRest(pid);
    const churned = churnSeconds === 0 ? undefined : await churn(cluster.client, pid, options);
    const promised = shipped ? PROMISED[`${nodes}/${services}`] : undefined;
    const figures = {
      Services: services,
      nodes,
      "CPU until all had addresses, s": createdMs / 1_000,
      "most RSS until then, MB": created.most,
      "RSS when all had addresses, MB": created.busy,
      "RSS at rest, MB": created.atRest,
      "RSS after the changes, MB": changed.busy,
      "RSS at rest after the changes, MB": changed.atRest,
      "CPU per changed Service, ms": cpuPerChange,
      ...churned,
    };
    const bars = {
      ...(promised !== undefined && {
        "RSS at rest, MB": atMost(created.atRest, promised),
        "RSS at rest after the changes, MB": atMost(changed.atRest, promised),
      }),
      ...(churned !== undefined && {
        "growth under churn, MB": atMost(churned["growth under churn, MB"] ?? 0, FLAT_MB),
      }),
    };
    return { scenario: "memory", figures, bars, notes: limitsFor(services).notes };
  } finally {
    await cluster.close();
  }
}

async function busyAndAtRest(pid: number): Promise<{ most: number; busy: number; atRest: number }> {
  const [most, busy] = [peakRssMb(pid), rssMb(pid)];
  await realClock.sleep(UNTIL_REST_MS);
  return { most, busy, atRest: rssMb(pid) };
}

async function changeServices(client: KubeClient, services: number, changes: number): Promise<void> {
  for (let number = 0; number < changes; number++) await setIdleTimeout(client, number % services, 10);
}

async function setIdleTimeout(client: KubeClient, number: number, minutes: number): Promise<void> {
  const annotations = { "service.beta.kubernetes.io/azure-load-balancer-tcp-idle-timeout": String(minutes) };
  await client.patch(
    SERVICES,
    { namespace: "default", name: `svc-${number}` },
    { merge: { metadata: { annotations } } },
  );
}

/** A Service and a Node change every half second; memory is looked at as often. */
async function churn(
  client: KubeClient,
  pid: number,
  { services, churnSeconds }: MemoryOptions,
): Promise<Record<string, number>> {
  const names = (await client.list(NODES, {})).items.map(({ metadata }) => metadata.name);
  const beforeCpuMs = cpuMs(pid);
  const seen: number[] = [];
  for (let turn = 0; turn < churnSeconds * 2; turn++) {
    await setIdleTimeout(client, turn % services, 4 + (turn % 20));
    const labels = { "bench.azlb.io/turn": String(turn) };
    await client.patch(NODES, { name: names[turn % names.length] ?? "" }, { merge: { metadata: { labels } } });
    await realClock.sleep(500);
    seen.push(rssMb(pid));
  }
  const half = Math.floor(seen.length / 2);
  const [first, second] = [Math.max(...seen.slice(0, half)), Math.max(...seen.slice(half))];
  return {
    "most RSS in the first half of the churn, MB": first,
    "most RSS in the second half, MB": second,
    "RSS at its end, MB": seen.at(-1) ?? 0,
    "growth under churn, MB": Math.max(0, second - first),
    "cores under churn": (cpuMs(pid) - beforeCpuMs) / (churnSeconds * 1_000),
  };
}
