/**
 * The cost of caching a large cluster: 5,000 nodes of about 15 KB, 10,000 Services, 100,000 endpoints. The reflectors of
 * `src/kube` compared with the informers of `@kubernetes/client-node`, each in its own process, against the same server in
 * the same run.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

import type { Measurement } from "../kube/measured-client.ts";
import { KINDS } from "../kube/objects.ts";
import { atMost, type BenchReport } from "../report.ts";

const RUNS = 3;
const LONGEST_RUN_MS = 120_000;

/** Ratios of our figure to client-node's; each must be at most 1. */
const THRESHOLDS: Readonly<Record<string, (measurement: Measurement) => number>> = {
  "time to synced, of client-node's": ({ syncedMs }) => syncedMs,
  "peak memory, of client-node's": ({ peakRssMb }) => peakRssMb,
  "memory kept, of client-node's": ({ heapMb }) => heapMb,
  "CPU per change, of client-node's": (each) => each.cpuPerNodeChangeUs + each.cpuPerServiceChangeUs,
};

const UNITS: Readonly<Record<keyof Measurement, string>> = {
  syncedMs: "synced, ms",
  syncCpuMs: "CPU until synced, ms",
  rssMb: "RSS when synced, MB",
  peakRssMb: "peak RSS, MB",
  heapMb: "heap after collection, MB",
  longestBlockMs: "longest block of the loop, ms",
  cpuPerNodeChangeUs: "CPU per node change, µs",
  cpuPerServiceChangeUs: "CPU per Service change, µs",
};

export async function benchKube(): Promise<BenchReport> {
  const server = startScript("static-server.ts", []);
  try {
    const base = `http://127.0.0.1:${await server.firstLine}`;
    const ours: Measurement[] = [];
    const theirs: Measurement[] = [];
    for (let run = 0; run < RUNS; run++) {
      ours.push(await measurementOf("our-client.ts", base));
      theirs.push(await measurementOf("client-node-client.ts", base));
    }
    return report(medianOf(ours), medianOf(theirs));
  } finally {
    server.stop();
  }
}

function report(ours: Measurement, theirs: Measurement): BenchReport {
  const figures: Record<string, number> = {};
  for (const [key, name] of Object.entries(UNITS) as [keyof Measurement, string][]) {
    figures[`ours: ${name}`] = ours[key];
    figures[`client-node: ${name}`] = theirs[key];
  }
  return {
    scenario: "kube",
    figures,
    bars: Object.fromEntries(Object.entries(THRESHOLDS).map(([name, of]) => [name, atMost(of(ours) / of(theirs), 1)])),
    notes: [
      `median of ${RUNS} runs; ${KINDS.map(({ kind, count }) => `${count} × ${kind}`).join(", ")}, 100 endpoints a slice`,
    ],
  };
}

function medianOf(runs: readonly Measurement[]): Measurement {
  const keys = Object.keys(UNITS) as (keyof Measurement)[];
  const median = (key: keyof Measurement): number =>
    runs.map((run) => run[key]).sort((a, b) => a - b)[Math.floor(runs.length / 2)] ?? Number.NaN;
  return Object.fromEntries(keys.map((key) => [key, median(key)])) as object as Measurement;
}

async function measurementOf(script: string, base: string): Promise<Measurement> {
  const client = startScript(script, [base]);
  try {
    return JSON.parse(await client.firstLine) as Measurement;
  } finally {
    client.stop();
  }
}

/** Runs a file of `bench/kube` as its own process and resolves with the first line that it prints. */
function startScript(script: string, args: readonly string[]): { firstLine: Promise<string>; stop(): void } {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../kube", script), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    timeout: LONGEST_RUN_MS * 10,
  });
  const firstLine = new Promise<string>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`bench/kube/${script} printed nothing in time`)), LONGEST_RUN_MS);
    const settle = (): void => clearTimeout(late);
    createInterface(child.stdout).once("line", (line) => {
      settle();
      resolve(line);
    });
    child.once("exit", (code) => {
      settle();
      reject(new Error(`bench/kube/${script} ended with code ${String(code)} before it printed a measurement`));
    });
  });
  return { firstLine, stop: () => void child.kill() };
}
