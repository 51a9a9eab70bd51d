/**
 * How a client is measured, inside a process of its own: time, memory and processor time until it is synced, then per
 * change.
 */
import { request } from "node:http";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { NODE_KIND, SERVICE_KIND } from "./objects.ts";

export interface Measurement {
  /** From the start of the process, imports included, until every object is known. */
  readonly syncedMs: number;
  readonly syncCpuMs: number;
  readonly rssMb: number;
  readonly peakRssMb: number;
  /** After garbage collection: the cost of the cache. */
  readonly heapMb: number;
  readonly longestBlockMs: number;
  readonly cpuPerNodeChangeUs: number;
  readonly cpuPerServiceChangeUs: number;
}

export interface MeasuredClient {
  readonly synced: Promise<void>;
  /** Calls the listener for every change of that kind that a subscriber receives. */
  onChange(path: string, listener: () => void): void;
}

const CHANGES = 5_000;
const MB = 1024 * 1024;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;
const blocks = monitorEventLoopDelay({ resolution: 5 });
blocks.enable();

/** Prints one measurement and ends the process. */
export async function measure(base: string, client: MeasuredClient): Promise<never> {
  await client.synced;
  const syncedMs = performance.now();
  const { user, system } = process.cpuUsage();
  const rssMb = process.memoryUsage.rss() / MB;
  const peakRssMb = process.resourceUsage().maxRSS / 1024;
  const longestBlockMs = blocks.max / 1e6;
  collectGarbage();
  const heapMb = process.memoryUsage().heapUsed / MB;
  const cpuPerNodeChangeUs = await cpuPerChangeUs(base, NODE_KIND.path, client);
  const cpuPerServiceChangeUs = await cpuPerChangeUs(base, SERVICE_KIND.path, client);
  const syncCpuMs = (user + system) / 1000;
  const measurement: Measurement = {
    syncedMs,
    syncCpuMs,
    rssMb,
    peakRssMb,
    heapMb,
    longestBlockMs,
    cpuPerNodeChangeUs,
    cpuPerServiceChangeUs,
  };
  process.stdout.write(`${JSON.stringify(measurement)}\n`, () => process.exit(0));
  return new Promise(() => {});
}

async function cpuPerChangeUs(base: string, path: string, client: MeasuredClient): Promise<number> {
  let left = CHANGES;
  const received = new Promise<void>((resolve) => {
    client.onChange(path, () => {
      left -= 1;
      if (left === 0) resolve();
    });
  });
  const before = process.cpuUsage();
  request(`${base}${path}?burst=${CHANGES}`, { method: "POST" }, (response) => response.resume()).end();
  await received;
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CHANGES;
}
