/**
 * Splits the time of a drain, from the emulator's audit log and the traffic that was recorded in the controller: from the
 * taint to the write that sets the node Down, the parts for which the controller is not responsible are the delay of the
 * watch (measured by a second watcher), the wait for an earlier write that was already in flight, and the time on the
 * network and in the emulator, which reads one request at a time. The rest is the controller's own share.
 *
 *   taint written ── watch received ──┬────────────────────────────┬──────────► PUT sent ──────────► PUT received
 *                   newsMs            │ an earlier write in flight │ own               under way
 *                                     └ PUT … polls … its result read
 *
 * Only a write that the controller had handed to a connection when the watcher received the taint counts as in flight. Any
 * other call between the taint and its drain counts as the controller's own share.
 */
import type { AuditEntry } from "../support/azure-control.ts";
import type { Taint } from "./taints.ts";
import type { TrafficEvent } from "./traffic.ts";

export interface DrainSample {
  readonly node: string;
  readonly totalMs: number;
  readonly newsMs: number;
  readonly waitedMs: number;
  readonly underWayMs: number;
  readonly ownMs: number;
}

/** One sample per node and load balancer. `taints`: by name of the node. */
export function drainSamples(
  entries: readonly AuditEntry[],
  traffic: readonly TrafficEvent[],
  taints: ReadonlyMap<string, Taint>,
): readonly DrainSample[] {
  // what happens to one load balancer says nothing of another
  const calls = Map.groupBy(entries, loadBalancerOf);
  const events = Map.groupBy(traffic, loadBalancerOf);
  return entries.flatMap((entry) =>
    nodesSetDown(entry).flatMap((node) => {
      const taint = taints.get(node);
      const id = loadBalancerOf(entry);
      return taint === undefined ? [] : [sampleOf(calls.get(id) ?? [], events.get(id) ?? [], entry, node, taint)];
    }),
  );
}

function sampleOf(
  entries: readonly AuditEntry[],
  traffic: readonly TrafficEvent[],
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
  const underWayMs = receivedMs - sentMs(traffic, put.path, receivedMs);
  const newsMs = Math.min(heardMs - writtenMs, totalMs - underWayMs);
  return { node, totalMs, newsMs, waitedMs, underWayMs, ownMs: totalMs - Math.max(newsMs, waitedMs) - underWayMs };
}

/**
 * When a write was sent: the record nearest in time, but not after it was received. On a shared processor the emulator may
 * receive a write before the sender records it. A write without a record counts as sent when it was received.
 */
function sentMs(traffic: readonly TrafficEvent[], path: string, receivedMs: number): number {
  const times = traffic.filter((each) => each.kind === "PUT left" && each.path === path).map(({ atMs }) => atMs);
  const distance = (ms: number): number => Math.abs(ms - receivedMs);
  const nearest = times.reduce(
    (one, other) => (distance(other) < distance(one) ? other : one),
    Number.NEGATIVE_INFINITY,
  );
  return times.length === 0 ? receivedMs : Math.min(nearest, receivedMs);
}

function begunMs(traffic: readonly TrafficEvent[], { path, time }: AuditEntry): number {
  const receivedMs = Date.parse(time);
  const begun = traffic.findLast((each) => each.kind === "PUT begun" && each.path === path && each.atMs <= receivedMs);
  return begun?.atMs ?? receivedMs;
}

/**
 * When a write was over: its result, or a part of it, was read and had arrived. A read without a record counts as arrived
 * when the emulator had sent it.
 */
function endOf(entries: readonly AuditEntry[], traffic: readonly TrafficEvent[], put: AuditEntry): number {
  const repliedMs = Date.parse(put.time) + put.durationMs;
  const reads = entries
    .filter((other) => other.verb === "GET" && other.status < 400 && loadBalancerOf(other) === loadBalancerOf(put))
    .filter(({ time }) => Date.parse(time) >= repliedMs)
    .map((read) => answeredMs(traffic, read));
  return Math.min(...reads, reads.length === 0 ? repliedMs : Number.POSITIVE_INFINITY);
}

function answeredMs(traffic: readonly TrafficEvent[], { time, durationMs, path }: AuditEntry): number {
  const sentMs = Date.parse(time) + durationMs;
  const arrived = traffic.find((each) => each.kind === "GET answered" && each.path === path && each.atMs >= sentMs);
  return arrived?.atMs ?? sentMs;
}

/** Path of the load balancer, or of the one that the pool belongs to, in lower case. */
function loadBalancerOf({ path }: { readonly path: string }): string {
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
