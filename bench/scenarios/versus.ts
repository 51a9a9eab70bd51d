/**
 * azlb and the incumbent's own program (cloud-controller-manager, which the user gives), one after the other in the same
 * sandbox: many Services created at once, a node added, a restart without changes. What is compared is what the user waits for, and what
 * Azure is asked for.
 */
import { openKubeClient } from "../../src/main/kube-access.ts";
import { realClock } from "../../src/main/real-clock.ts";
import { ensureNodes } from "../../src/main/sandbox-nodes.ts";
import { atLeast, atMost, type BenchReport } from "../report.ts";
import { AzureControl, type AuditEntry, countReads, countWrites } from "../support/azure-control.ts";
import { IncumbentProcess } from "../support/incumbent-process.ts";
import { limitsFor } from "../support/limits.ts";
import { rssMb } from "../support/process-usage.ts";
import {
  type ControllerProcess,
  type SandboxProcess,
  startControllerProcess,
  startSandboxProcess,
} from "../support/sandbox-process.ts";
import { AddressWatch, createServices, percentile } from "../support/services.ts";
import { callsFor } from "../support/settled-cluster.ts";

export interface VersusOptions {
  /** Path of cloud-controller-manager. */
  readonly incumbent: string;
  readonly services: number;
  readonly nodes: number;
  readonly latency: string;
}

interface Measured {
  readonly totalMs: number;
  readonly p50Ms: number;
  readonly created: readonly AuditEntry[];
  readonly nodeAdded: readonly AuditEntry[];
  readonly restarted: readonly AuditEntry[];
  readonly rss: number;
}

type Start = (sandbox: SandboxProcess) => Pick<ControllerProcess, "pid" | "close">;

const WITHIN_MS = 3_600_000;
/** The incumbent looks every five seconds at an operation whose answer does not say when. */
const QUIET_MS = 8_000;

export async function benchVersus(options: VersusOptions): Promise<BenchReport> {
  const { services } = options;
  const ours = await measure(options, (sandbox) => startControllerProcess(sandbox));
  const theirs = await measure(options, ({ line: { kubeconfig, cloudConfig, env } }) => {
    return new IncumbentProcess(options.incumbent, {
      kubeconfig: kubeconfig ?? "",
      cloudConfig: cloudConfig ?? "",
      env,
    });
  });
  const calls = (entries: readonly AuditEntry[]): number => countReads(entries) + countWrites(entries);
  return {
    scenario: "versus",
    figures: { ...figuresOf("incumbent", theirs), ...figuresOf("azlb", ours) },
    bars: {
      [`times faster for ${services} Services at once`]: atLeast(theirs.totalMs / ours.totalMs, 10),
      "share of the incumbent's calls for them": atMost(calls(ours.created) / calls(theirs.created), 0.5),
      "share of its calls for a node added": atMost(calls(ours.nodeAdded) / calls(theirs.nodeAdded), 0.1),
      "share of its calls at a restart": atMost(calls(ours.restarted) / calls(theirs.restarted), 0.1),
      "writes of azlb at a restart": atMost(countWrites(ours.restarted), 0),
    },
    notes: limitsFor(services).notes,
  };
}

function figuresOf(
  name: string,
  { totalMs, p50Ms, created, nodeAdded, restarted, rss }: Measured,
): Record<string, number> {
  return {
    [`${name}: all have addresses, ms`]: totalMs,
    [`${name}: time to address p50, ms`]: p50Ms,
    [`${name}: reads for them`]: countReads(created),
    [`${name}: writes for them`]: countWrites(created),
    [`${name}: reads for a node added`]: countReads(nodeAdded),
    [`${name}: writes for a node added`]: countWrites(nodeAdded),
    [`${name}: reads at a restart`]: countReads(restarted),
    [`${name}: writes at a restart`]: countWrites(restarted),
    [`${name}: resident memory, MB`]: rss,
  };
}

async function measure({ services, nodes, latency }: VersusOptions, start: Start): Promise<Measured> {
  const flags = ["--without-controller", `--nodes=${nodes}`, `--latency=${latency}`, ...limitsFor(services).flags];
  const sandbox = await startSandboxProcess(flags);
  const { client, close } = openKubeClient({ kubeconfig: sandbox.line.kubeconfig ?? "", userAgent: "azlb-bench" });
  const control = new AzureControl(sandbox.line.azureControlUrl ?? "");
  const watch = new AddressWatch(client);
  let controller = start(sandbox);
  const calls = (work: () => Promise<unknown>): Promise<readonly AuditEntry[]> => callsFor(control, work, QUIET_MS);
  try {
    await calls(async () => {
      await createServices(client, 1, services); // start, sign-in and the first load balancer are not measured
      await watch.served(1, WITHIN_MS);
    });
    const startMs = realClock.monotonicMs();
    let toAddressMs: number[] = [];
    let totalMs = 0;
    const created = await calls(async () => {
      const askedMs = await createServices(client, services);
      await watch.served(services + 1, WITHIN_MS);
      totalMs = realClock.monotonicMs() - startMs;
      toAddressMs = [...askedMs].map(([key, asked]) => (watch.servedMs.get(key) ?? Number.NaN) - asked);
    });
    const node = { name: "newcomer", internalIPs: ["10.240.200.1"] };
    const nodeAdded = await calls(() => ensureNodes(client, [node]));
    const rss = rssMb(controller.pid);
    await controller.close();
    const restarted = await calls(async () => {
      const before = await control.lastSequence();
      controller = start(sandbox);
      while ((await control.lastSequence()) === before) await realClock.sleep(100);
    });
    return { totalMs, p50Ms: percentile(toAddressMs, 0.5), created, nodeAdded, restarted, rss };
  } finally {
    await watch.close();
    await close();
    await controller.close();
    await sandbox.close();
  }
}
