/**
 * Many Services created at once: the time until all have addresses and the calls to Azure, compared with the same controller
 * with one worker. One worker is what the incumbent has: one Service at a time, nothing to merge.
 *
 * The bound is the time that dependent writes alone need with the latencies of the run: the slowest public IP, then one
 * write of the load balancer, then the pool and the security group in parallel.
 */
import { openKubeClient } from "../../src/main/kube-access.ts";
import { realClock } from "../../src/main/real-clock.ts";
import { atLeast, atMost, type BenchReport } from "../report.ts";
import { AzureControl, countCalls, countReads, type AuditEntry } from "../support/azure-control.ts";
import { limitsFor } from "../support/limits.ts";
import { startControllerProcess, startSandboxProcess, type SandboxProcess } from "../support/sandbox-process.ts";
import { configureLoadBalancers, nodesOfFirst } from "../support/several-load-balancers.ts";
import { AddressWatch, createServices, percentile } from "../support/services.ts";

export interface BulkCreateOptions {
  readonly services: number;
  readonly nodes: number;
  readonly latency: string;
  /** Services of the baseline with one worker; its time is scaled per Service. */
  readonly baselineServices: number;
  /** Standard load balancers that the Services are placed on. */
  readonly loadBalancers: number;
  /** `external`: print the sandbox's line and measure the controller that the user attaches to it. */
  readonly controller: "ours" | "external";
}

interface Run {
  readonly totalMs: number;
  readonly toAddressMs: readonly number[];
  readonly entries: readonly AuditEntry[];
}

const WITHIN_MS = 1_800_000;

export async function benchBulkCreate(options: BulkCreateOptions): Promise<BenchReport> {
  const { services, baselineServices } = options;
  const merged = await measure(options, services, []);
  if (options.controller === "external") return externalReport(options, merged);
  if (options.loadBalancers > 1) return severalReport(options, merged);
  const single = await measure(options, baselineServices, ["--concurrent-service-syncs=1"]);
  const calls = countCalls(merged.entries);
  const called = (name: string): number => calls.get(name) ?? 0;
  const perServiceMs = single.totalMs / baselineServices;
  const boundMs = boundOf(merged.entries);
  return {
    scenario: "bulk-create",
    figures: {
      ...runFigures(merged),
      [`one at a time, ms per Service (of ${baselineServices})`]: perServiceMs,
      "bound by dependent writes, ms": boundMs,
      ...callFigures(calls),
    },
    bars: {
      "times faster than one at a time": atLeast((perServiceMs * services) / merged.totalMs, 40),
      "PUTs of load balancers": atMost(called("PUT loadBalancers"), 10),
      "PUTs of security groups": atMost(called("PUT networkSecurityGroups"), 10),
      "PUTs of public IPs per Service": atMost(called("PUT publicIPAddresses") / services, 1),
      "reads per Service": atMost(countReads(merged.entries) / services, 2),
      "times the bound": atMost(merged.totalMs / boundMs, 4),
    },
    notes: limitsFor(services).notes,
  };
}

/** Compared with one load balancer and its share of the Services. */
async function severalReport(options: BulkCreateOptions, merged: Run): Promise<BenchReport> {
  const { services, loadBalancers } = options;
  const share = Math.ceil(services / loadBalancers);
  const one = await measure({ ...options, loadBalancers: 1 }, share, []);
  const puts = ({ entries }: Run): number => countCalls(entries).get("PUT loadBalancers") ?? 0;
  const boundMs = boundOf(merged.entries);
  return {
    scenario: "bulk-create",
    figures: {
      ...runFigures(merged),
      [`PUTs of one load balancer with ${share} Services`]: puts(one),
      "bound by dependent writes, ms": boundMs,
      ...callFigures(countCalls(merged.entries)),
    },
    bars: {
      "PUTs of load balancers": atMost(puts(merged), loadBalancers * puts(one)),
      "PUTs of public IPs per Service": atMost(
        (countCalls(merged.entries).get("PUT publicIPAddresses") ?? 0) / services,
        1,
      ),
      "reads per Service": atMost(countReads(merged.entries) / services, 2),
      "times the bound": atMost(merged.totalMs / boundMs, 2),
    },
    notes: limitsFor(services).notes,
  };
}

function runFigures({ totalMs, toAddressMs }: Run): Record<string, number> {
  return {
    "all have addresses, ms": totalMs,
    "time to address p50, ms": percentile(toAddressMs, 0.5),
    "time to address p99, ms": percentile(toAddressMs, 0.99),
  };
}

function callFigures(calls: ReadonlyMap<string, number>): Record<string, number> {
  const sorted = [...calls].sort(([one], [other]) => one.localeCompare(other));
  return Object.fromEntries(sorted.map(([name, count]) => [`calls: ${name}`, count]));
}

function externalReport({ services }: BulkCreateOptions, run: Run): BenchReport {
  return {
    scenario: "bulk-create",
    figures: { ...runFigures(run), "ms per Service": run.totalMs / services, ...callFigures(countCalls(run.entries)) },
    bars: {},
  };
}

async function measure(options: BulkCreateOptions, services: number, flags: readonly string[]): Promise<Run> {
  const sandbox = await startSandboxProcess([
    "--without-controller",
    `--nodes=${nodesOfFirst(options.nodes, options.loadBalancers)}`,
    `--latency=${options.latency}`,
    ...limitsFor(services).flags,
  ]);
  const { client, close } = openKubeClient({ kubeconfig: sandbox.line.kubeconfig ?? "", userAgent: "azlb-bench" });
  await configureLoadBalancers(sandbox, client, options);
  const controller = options.controller === "ours" ? startControllerProcess(sandbox, flags) : announce(sandbox);
  const watch = new AddressWatch(client);
  try {
    await warmUp(client, watch);
    const control = new AzureControl(sandbox.line.azureControlUrl ?? "");
    const before = await control.lastSequence();
    const startMs = realClock.monotonicMs();
    const askedMs = await createServices(client, services);
    await watch.served(services + 1, WITHIN_MS);
    const totalMs = realClock.monotonicMs() - startMs;
    const toAddressMs = [...askedMs].map(([key, asked]) => (watch.servedMs.get(key) ?? Number.NaN) - asked);
    return { totalMs, toAddressMs, entries: await control.audit(before) };
  } finally {
    await watch.close();
    await close();
    await controller.close();
    await sandbox.close();
  }
}

/** Serves one Service first, so that startup, sign-in and the creation of the load balancer are not measured. */
async function warmUp(client: Parameters<typeof createServices>[0], watch: AddressWatch): Promise<void> {
  await createServices(client, 1, 1_000_000);
  await watch.served(1, WITHIN_MS);
}

function announce({ line }: SandboxProcess): { close(): Promise<void> } {
  process.stdout.write(`${JSON.stringify(line)}\n`);
  return { close: () => Promise.resolve() };
}

function boundOf(entries: readonly AuditEntry[]): number {
  const operations = (type: string): number[] =>
    entries
      .filter((entry) => entry.verb === "PUT" && entry.type?.toLowerCase() === `microsoft.network/${type}`)
      .map(({ durationMs, operationMs }) => operationMs ?? durationMs);
  const least = (type: string): number => Math.min(...operations(type), Number.POSITIVE_INFINITY);
  const finite = (ms: number): number => (Number.isFinite(ms) ? ms : 0);
  return (
    Math.max(0, ...operations("publicipaddresses")) +
    finite(least("loadbalancers")) +
    Math.max(finite(least("loadbalancers/backendaddresspools")), finite(least("networksecuritygroups")))
  );
}
