/**
 * Endpoints that change in a burst: Services with `externalTrafficPolicy: Local`, each with a pool of its own on one of
 * several load balancers. How often each pool is written, and how long it takes until all hold the right nodes; then the
 * same while Azure throttles.
 */
import type { KubeClient } from "../../src/kube/client/kube-client.ts";
import { ENDPOINT_SLICES, type KubeObject, NODES } from "../../src/kube/client/resources.ts";
import { realClock } from "../../src/main/real-clock.ts";
import { atMost, type BenchReport, type Threshold } from "../report.ts";
import type { AuditEntry, AzureControl } from "../support/azure-control.ts";
import { limitsFor } from "../support/limits.ts";
import { openSettledCluster, type SettledCluster } from "../support/settled-cluster.ts";

export interface LocalChurnOptions {
  readonly services: number;
  /** Of EndpointSlices; each Service has its share of them. */
  readonly changes: number;
}

const NODE_COUNT = 20;
const ENDPOINTS = 3;
const LOAD_BALANCERS = 4;
const PATCHES_AT_A_TIME = 20;
const MOST_WRITES = 3;
const RIGHT_WITHIN_MS = 900_000;
const POLL_MS = 500;

export async function benchLocalChurn({ services, changes }: LocalChurnOptions): Promise<BenchReport> {
  const spec = { externalTrafficPolicy: "Local" };
  const cluster = await openSettledCluster(services, NODE_COUNT, { loadBalancers: LOAD_BALANCERS, spec });
  const figures: Record<string, number> = {};
  const bars: Record<string, Threshold> = {};
  try {
    const nodes = await nodeNames(cluster.client);
    const rounds = Math.ceil(changes / services);
    await cluster.callsFor(() =>
      forEach(services, (service) => createSlice(cluster.client, service, nodesOf(nodes, service, 0))),
    );
    for (const [turn, throttling] of [false, true].entries()) {
      await cluster.control.change({ throttling });
      const when = throttling ? "throttled: " : "";
      const { burstMs, rightMs, wrong, calls } = await burst(cluster, { nodes, services, rounds, from: turn * rounds });
      const writes = writesOfPools(calls);
      figures[`${when}burst, ms`] = burstMs;
      figures[`${when}until all pools are right, ms`] = rightMs;
      figures[`${when}writes of pools`] = [...writes.values()].reduce((sum, count) => sum + count, 0);
      bars[`${when}most writes of one pool`] = atMost(Math.max(0, ...writes.values()), MOST_WRITES);
      bars[`${when}pools with wrong members`] = atMost(wrong, 0);
    }
  } finally {
    await cluster.close();
  }
  return { scenario: "local-churn", figures, bars, notes: limitsFor(services).notes };
}

interface Burst {
  readonly nodes: readonly string[];
  readonly services: number;
  /** Changes of each Service. */
  readonly rounds: number;
  /** Rounds that went before. */
  readonly from: number;
}

async function burst(
  cluster: SettledCluster,
  { nodes, services, rounds, from }: Burst,
): Promise<{ burstMs: number; rightMs: number; wrong: number; calls: readonly AuditEntry[] }> {
  const { client, control } = cluster;
  const startMs = realClock.monotonicMs();
  const wanted = new Map(
    Array.from({ length: services }, (_, service) => [poolOf(service), nodesOf(nodes, service, from + rounds)]),
  );
  let [burstMs, rightMs] = [0, 0];
  const calls = await cluster.callsFor(async () => {
    await forEach(services * rounds, (at) => {
      const service = at % services;
      return patchSlice(client, service, nodesOf(nodes, service, from + 1 + Math.floor(at / services)));
    });
    burstMs = realClock.monotonicMs() - startMs;
    while ((await wrongPools(control, wanted)) > 0 && realClock.monotonicMs() - startMs < RIGHT_WITHIN_MS)
      await realClock.sleep(POLL_MS);
    rightMs = realClock.monotonicMs() - startMs;
  });
  return { burstMs, rightMs, wrong: await wrongPools(control, wanted), calls };
}

/** Some of the nodes, others for each Service and round. */
function nodesOf(nodes: readonly string[], service: number, round: number): string[] {
  const first = service + ENDPOINTS * round;
  return Array.from({ length: ENDPOINTS }, (_, at) => nodes[(first + at) % nodes.length] ?? "").sort();
}

function poolOf(service: number): string {
  return `default-svc-${service}`;
}

async function nodeNames(client: KubeClient): Promise<string[]> {
  const { items } = await client.list<KubeObject>(NODES, {});
  return items.map(({ metadata }) => metadata.name).sort();
}

async function createSlice(client: KubeClient, service: number, nodes: readonly string[]): Promise<void> {
  const labels = { "kubernetes.io/service-name": `svc-${service}` };
  await client.create(ENDPOINT_SLICES, {
    metadata: { name: `svc-${service}-slice`, namespace: "default", labels },
    addressType: "IPv4",
    endpoints: endpointsOn(nodes),
    ports: [],
  });
}

async function patchSlice(client: KubeClient, service: number, nodes: readonly string[]): Promise<void> {
  const place = { namespace: "default", name: `svc-${service}-slice` };
  await client.patch(ENDPOINT_SLICES, place, { merge: { endpoints: endpointsOn(nodes) } });
}

function endpointsOn(nodes: readonly string[]): object[] {
  return nodes.map((nodeName, at) => ({ addresses: [`10.1.0.${at + 1}`], nodeName, conditions: { ready: true } }));
}

/** Some at a time, in order. */
async function forEach(count: number, work: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) await work(at);
  };
  await Promise.all(Array.from({ length: PATCHES_AT_A_TIME }, worker));
}

function writesOfPools(calls: readonly AuditEntry[]): Map<string, number> {
  const writes = new Map<string, number>();
  for (const { method, path, poll, status } of calls) {
    if (method !== "PUT" || poll || status >= 300 || !/\/backendAddressPools\//i.test(path)) continue;
    writes.set(path, (writes.get(path) ?? 0) + 1);
  }
  return writes;
}

async function wrongPools(control: AzureControl, wanted: ReadonlyMap<string, readonly string[]>): Promise<number> {
  const right = new Set<string>();
  for (const { id, body } of await control.resources()) {
    if (!/\/loadBalancers\/[^/]+$/i.test(id)) continue;
    for (const { name, properties } of poolsIn(body)) {
      const entries = (properties.loadBalancerBackendAddresses ?? []).map((entry) => entry.name).sort();
      if (entries.join() === wanted.get(name)?.join()) right.add(name);
    }
  }
  return wanted.size - right.size;
}

interface WirePool {
  readonly name: string;
  readonly properties: { readonly loadBalancerBackendAddresses?: readonly { readonly name: string }[] };
}

function poolsIn(body: unknown): readonly WirePool[] {
  const { properties } = body as { readonly properties?: { readonly backendAddressPools?: readonly WirePool[] } };
  return properties?.backendAddressPools ?? [];
}
