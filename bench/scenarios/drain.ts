/**
 * From the taint of a node to the write that Azure receives, in a cluster of many nodes and Services: one node at a time,
 * beside two hundred Services that are created under throttling, and a hundred nodes at once. On a fleet every load balancer has every
 * node; it is full, so no Services are created there.
 *
 * A taint counts as written when the API server has answered the patch or a watcher has received it, whichever is earlier.
 * The write counts as received when the emulator has read it (its audit log). The delay of the watch, the wait for an
 * earlier write of the same load balancer, and the time on the network are reported separately: `drain/drain-samples.ts`.
 */
import { realClock } from "../../src/main/real-clock.ts";
import { SERVICES } from "../../src/kube/client/resources.ts";
import { atMost, type Threshold, type BenchReport } from "../report.ts";
import type { AuditEntry } from "../support/azure-control.ts";
import { drainSamples, nodesSetDown, type DrainSample } from "../drain/drain-samples.ts";
import { limitsFor } from "../support/limits.ts";
import { AddressWatch, createServices, percentile } from "../support/services.ts";
import { openSettledCluster, type SettledCluster } from "../support/settled-cluster.ts";
import { Tainter } from "../drain/taints.ts";
import { Traffic } from "../drain/traffic.ts";

export interface DrainOptions {
  readonly nodes: number;
  readonly services: number;
  /** More than one: without internal counterparts; each node is in one of them, unless they are a fleet. */
  readonly loadBalancers: number;
  /** Each node is in all of them. */
  readonly isFleet: boolean;
}

/** Shared by the three parts. */
interface Fixture {
  readonly cluster: SettledCluster;
  readonly tainter: Tainter;
  readonly traffic: Traffic;
  /** Pools that each node is in. */
  readonly pools: number;
}

const CREATED_MEANWHILE = 200;
const MOST_OWN_MS = 25;
const MOST_WRITES = 2;
const PACE_MS = 400;
const POLL_MS = 50;
const WITHIN_MS = 300_000;
const AT_A_TIME = 20;

export async function benchDrain({ nodes, services, loadBalancers, isFleet }: DrainOptions): Promise<BenchReport> {
  const most = services + CREATED_MEANWHILE + 1;
  const traffic = new Traffic();
  const cluster = await openSettledCluster(services, nodes, { most, env: traffic.env, loadBalancers, isFleet });
  const tainter = new Tainter(cluster.client);
  const pools = isFleet ? loadBalancers : loadBalancers === 1 ? 2 : 1;
  const fixture: Fixture = { cluster, tainter, traffic, pools };
  try {
    if (loadBalancers === 1) await createInternal(cluster, services + 1);
    const names = await tainter.nodes();
    const share = Math.min(100, Math.floor(names.length / 3));
    const alone = await drainOneByOne(fixture, names.slice(0, share));
    const beside = isFleet ? [] : await drainBesideCreation(fixture, names.slice(share, 2 * share), services);
    const besideText = `beside ${CREATED_MEANWHILE} Services created`;
    const burst = await drainAtOnce(fixture, names.slice(2 * share, 3 * share));
    return {
      scenario: "drain",
      figures: {
        ...figuresOf("alone", alone),
        ...(isFleet ? {} : figuresOf(besideText, beside)),
        ...burst.figures,
      },
      bars: {
        "alone: own share p99, ms": own(alone),
        ...(isFleet ? {} : { [`${besideText}: own share p99, ms`]: own(beside) }),
        [`${share} nodes at once: most writes of a pool`]: atMost(burst.mostWrites, MOST_WRITES),
      },
      notes: [
        loadBalancers === 1
          ? `${nodes} nodes, ${services} Services, and an internal one`
          : `${nodes} nodes, ${services} Services on ${loadBalancers} load balancers${isFleet ? " with all nodes each" : ""}`,
        ...limitsFor(most).notes,
      ],
    };
  } finally {
    await tainter.close();
    await cluster.close();
    traffic.close();
  }
}

function own(samples: readonly DrainSample[]): Threshold {
  return atMost(
    percentile(
      samples.map(({ ownMs }) => ownMs),
      0.99,
    ),
    MOST_OWN_MS,
  );
}

function figuresOf(what: string, samples: readonly DrainSample[]): Record<string, number> {
  const figure = (name: string, of: (sample: DrainSample) => number): [string, number][] => {
    const values = samples.map(of);
    return [0.5, 0.99].map((share) => [`${what}: ${name} p${share * 100}, ms`, percentile(values, share)]);
  };
  return Object.fromEntries([
    [`${what}: drains measured`, samples.length],
    ...figure("taint written → PUT received", ({ totalMs }) => totalMs),
    ...figure("of it until a watcher heard", ({ newsMs }) => newsMs),
    ...figure("of it behind a write in flight", ({ waitedMs }) => waitedMs),
    ...figure("of it under way and in the emulator", ({ underWayMs }) => underWayMs),
    ...figure("own share", ({ ownMs }) => ownMs),
  ]);
}

/** Adds an internal Service, so that every drain writes two load balancers. */
async function createInternal(cluster: SettledCluster, services: number): Promise<void> {
  const annotations = { "service.beta.kubernetes.io/azure-load-balancer-internal": "true" };
  const watch = new AddressWatch(cluster.client);
  await cluster.callsFor(async () => {
    await cluster.client.create(SERVICES, {
      metadata: { name: "inside", namespace: "default", annotations },
      spec: { type: "LoadBalancer", ports: [{ port: 80 }], selector: { app: "inside" } },
    });
    await watch.served(services, WITHIN_MS);
  });
  await watch.close();
}

async function drainOneByOne(fixture: Fixture, names: readonly string[]): Promise<readonly DrainSample[]> {
  const { control } = fixture.cluster;
  await control.change({ latency: 0.1 });
  const before = await control.lastSequence();
  for (const name of names) {
    const since = await control.lastSequence();
    await fixture.tainter.taint(name);
    await untilRead(control, since, name, fixture.pools);
    await realClock.sleep(PACE_MS);
  }
  return measured(fixture, before, names);
}

async function drainBesideCreation(
  fixture: Fixture,
  names: readonly string[],
  from: number,
): Promise<readonly DrainSample[]> {
  const { control, client } = fixture.cluster;
  await control.change({ latency: 0.1, throttling: true });
  const before = await control.lastSequence();
  const watch = new AddressWatch(client);
  const creation = createServices(client, CREATED_MEANWHILE, from).then(() =>
    watch.served(from + CREATED_MEANWHILE + fixture.pools - 1, WITHIN_MS),
  );
  const drained: string[] = [];
  const isOver = creation.then(() => true);
  for (const name of names) {
    await fixture.tainter.taint(name);
    drained.push(name);
    if (await Promise.race([isOver, realClock.sleep(PACE_MS).then(() => false)])) break;
  }
  await creation;
  await watch.close();
  const samples = await measured(fixture, before, drained);
  await control.change({ throttling: false });
  return samples;
}

async function drainAtOnce(
  { cluster: { control }, tainter, traffic, pools }: Fixture,
  names: readonly string[],
): Promise<{ figures: Record<string, number>; mostWrites: number }> {
  await control.change({ latency: "realistic" });
  const before = await control.lastSequence();
  const startMs = realClock.nowMs();
  const waiting = [...names];
  const worker = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await tainter.taint(name);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  const taintedMs = realClock.nowMs() - startMs;
  const entries = await untilDown(control, before, names, pools);
  const writes = new Map<string, number>();
  for (const entry of entries) {
    if (nodesSetDown(entry).length > 0) writes.set(entry.path, (writes.get(entry.path) ?? 0) + 1);
  }
  const receivedMs = Math.max(...drainSamples(entries, traffic.read(), tainter.taints).map(({ totalMs }) => totalMs));
  await control.change({ latency: "none" });
  return {
    figures: {
      [`${names.length} nodes at once: all taints written after, ms`]: taintedMs,
      [`${names.length} nodes at once: slowest taint written → PUT received, ms`]: receivedMs,
    },
    mostWrites: Math.max(...writes.values()),
  };
}

async function measured(
  { cluster, tainter, traffic, pools }: Fixture,
  before: number,
  names: readonly string[],
): Promise<readonly DrainSample[]> {
  const entries = await untilDown(cluster.control, before, names, pools);
  const wanted = new Map([...tainter.taints].filter(([name]) => names.includes(name)));
  return drainSamples(entries, traffic.read(), wanted);
}

/** Returns the audit log once every node has been set Down in each of its pools. */
async function untilDown(
  control: SettledCluster["control"],
  before: number,
  names: readonly string[],
  pools: number,
): Promise<readonly AuditEntry[]> {
  const endMs = realClock.monotonicMs() + WITHIN_MS;
  for (;;) {
    const entries = await control.audit(before);
    const down = entries.flatMap(nodesSetDown).filter((name) => names.includes(name));
    if (down.length >= pools * names.length) return entries;
    if (realClock.monotonicMs() > endMs) throw new Error(`${down.length} of ${pools * names.length} entries are Down`);
    await realClock.sleep(PACE_MS);
  }
}

/** Waits until each load balancer has been read after its write: then no call is in flight. */
async function untilRead(
  control: SettledCluster["control"],
  before: number,
  node: string,
  pools: number,
): Promise<void> {
  const endMs = realClock.monotonicMs() + WITHIN_MS;
  for (;;) {
    const entries = await control.audit(before);
    const puts = entries.filter((entry) => nodesSetDown(entry).includes(node));
    const isRead = (put: AuditEntry): boolean =>
      entries.some(({ verb, path, time }) => {
        return (
          verb === "GET" && put.path.startsWith(`${path}/`) && Date.parse(time) >= Date.parse(put.time) + put.durationMs
        );
      });
    if (puts.length >= pools && puts.every(isRead)) return;
    if (realClock.monotonicMs() > endMs) throw new Error(`${node} was not set Down`);
    await realClock.sleep(POLL_MS);
  }
}
