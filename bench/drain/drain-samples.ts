/**
 * From the audit log of the emulator and what the controller sent and got when: how long after a taint was written Azure
 * received the write that sets the node Down; how much of that the API server took until a watcher of ours, beside the
 * controller's, heard of it; how much was waiting for a write that was in flight already; and how much was spent on the
 * way and in the emulator, which reads one request at a time. The rest is the controller's own.
 *
 *   taint written ──── heard ──┬────────────────────────────┬──────────► PUT left ──────────► PUT received
 *                      news    │ an earlier write in flight │ own               under way
 *                              └ PUT … polls … its result read, and here
 *
 * Only a write that the controller had handed to a connection when a watcher heard of the taint counts as in flight.
 * Whatever else leaves between the taint and its drain is the controller's fault, and stays in its share.
 */
import type { AuditEntry } from "../support/azure-control.ts";
import type { Taint } from "./taints.ts";
import type { Passage } from "./traffic.ts";

export interface DrainSample {
  readonly node: string;
  readonly totalMs: number;
  readonly newsMs: number;
  readonly waitedMs: number;
  readonly underWayMs: number;
  readonly ownMs: number;
}

/** `taints`: by node's name. One sample per node and load balancer. */
export function drainSamples(
  entries: readonly AuditEntry[],
  traffic: readonly Passage[],
  taints: ReadonlyMap<string, Taint>,
): readonly DrainSample[] {
  return entries.flatMap((entry) =>
    nodesSetDown(entry).flatMap((node) => {
      const taint = taints.get(node);
      return taint === undefined ? [] : [sampleOf(entries, traffic, entry, node, taint)];
    }),
  );
}

function sampleOf(
  entries: readonly AuditEntry[],
  traffic: readonly Passage[],
  put: AuditEntry,
  node: string,
  { writtenMs, heardMs }: Taint,
): DrainSample {
  const receivedMs = Date.parse(put.time);
  const loadBalancer = loadBalancerOf(put);
  const ends = entries
    .filter((other) => other.verb === "PUT" && other !== put && loadBalancerOf(other) === loadBalancer)
    .filter((other) => begunMs(traffic, other) <= heardMs)
    .map((other) => endOf(entries, traffic, other))
    .filter((endMs) => endMs <= receivedMs);
  const waitedMs = Math.max(0, ...ends.map((endMs) => endMs - writtenMs));
  const totalMs = receivedMs - writtenMs;
  const underWayMs = receivedMs - departureOf(traffic, put.path, receivedMs);
  const newsMs = Math.min(heardMs - writtenMs, totalMs - underWayMs);
  return { node, totalMs, newsMs, waitedMs, underWayMs, ownMs: totalMs - Math.max(newsMs, waitedMs) - underWayMs };
}

/**
 * The nearest in time: where both share a processor, a write may be received before its sender gets to note that it has
 * left. Whatever was received has left by then; a write that nobody saw leave was under way for no time.
 */
function departureOf(traffic: readonly Passage[], path: string, receivedMs: number): number {
  const times = traffic.filter((each) => each.kind === "PUT left" && each.path === path).map(({ atMs }) => atMs);
  const distance = (ms: number): number => Math.abs(ms - receivedMs);
  const nearest = times.reduce(
    (one, other) => (distance(other) < distance(one) ? other : one),
    Number.NEGATIVE_INFINITY,
  );
  return times.length === 0 ? receivedMs : Math.min(nearest, receivedMs);
}

function begunMs(traffic: readonly Passage[], { path, time }: AuditEntry): number {
  const receivedMs = Date.parse(time);
  const begun = traffic.findLast((each) => each.kind === "PUT begun" && each.path === path && each.atMs <= receivedMs);
  return begun?.atMs ?? receivedMs;
}

/**
 * A write is over when its result, or a part of it, was read and had come; where nobody saw it come, when it was sent.
 */
function endOf(entries: readonly AuditEntry[], traffic: readonly Passage[], put: AuditEntry): number {
  const repliedMs = Date.parse(put.time) + put.durationMs;
  const reads = entries
    .filter((other) => other.verb === "GET" && other.status < 400 && loadBalancerOf(other) === loadBalancerOf(put))
    .filter(({ time }) => Date.parse(time) >= repliedMs)
    .map((read) => answeredMs(traffic, read));
  return Math.min(...reads, reads.length === 0 ? repliedMs : Number.POSITIVE_INFINITY);
}

function answeredMs(traffic: readonly Passage[], { time, durationMs, path }: AuditEntry): number {
  const sentMs = Date.parse(time) + durationMs;
  const came = traffic.find((each) => each.kind === "GET answered" && each.path === path && each.atMs >= sentMs);
  return came?.atMs ?? sentMs;
}

/** In lower case; of a pool, the one that it is in. */
function loadBalancerOf({ path }: AuditEntry): string {
  return /^.*\/loadbalancers\/[^/]+/.exec(path.toLowerCase())?.[0] ?? "";
}

export function nodesSetDown({ diff }: AuditEntry): string[] {
  return diff.flatMap(({ changes }) =>
    changes.flatMap(({ path, after }) => {
      const node = /\.loadBalancerBackendAddresses\[([^\]]+)\]\.properties\.adminState$/.exec(path)?.[1];
      return node === undefined || after !== "Down" ? [] : [node];
    }),
  );
}
