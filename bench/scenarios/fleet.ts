/**
 * More Services than a load balancer of each kind can hold, created at once within Azure's own limits, on a fleet that grows
 * by itself: the time until all have addresses, what Azure refused, and where `azlb explain` says that each is.
 */
import { readFileSync, writeFileSync } from "node:fs";

import { SILENT_LOG } from "../../src/core/util/log.ts";
import { serviceKey } from "../../src/core/model/kubernetes.ts";
import { explain } from "../../src/core/plan/explain.ts";
import { type ClusterView, withClusterView } from "../../src/main/cluster-view.ts";
import { openKubeClient } from "../../src/main/kube-access.ts";
import { realClock } from "../../src/main/real-clock.ts";
import { atMost, type BenchReport } from "../report.ts";
import { AzureControl, type AuditEntry, countCalls, countWrites } from "../support/azure-control.ts";
import { startControllerProcess, startSandboxProcess, type SandboxProcess } from "../support/sandbox-process.ts";
import { AddressWatch, createServices } from "../support/services.ts";

export interface FleetOptions {
  readonly external: number;
  readonly internal: number;
  readonly nodes: number;
}

const WITHIN_MS = 3_000_000;
const MAX = 8;
const INTERNAL = { "service.beta.kubernetes.io/azure-load-balancer-internal": "true" };
/** Numbers of internal Services begin here. */
const FIRST_INTERNAL = 100_000;
/** Places in `azlb explain`. */
const PLACED = /^placed on +load balancer "([^"]+)": (.+)$/m;

export async function benchFleet({ external, internal, nodes }: FleetOptions): Promise<BenchReport> {
  const sandbox = await startSandboxProcess(["--without-controller", `--nodes=${nodes}`]);
  const path = sandbox.line.cloudConfig ?? "";
  const config = { ...(JSON.parse(readFileSync(path, "utf8")) as object), loadBalancerFleet: { max: MAX } };
  writeFileSync(path, JSON.stringify(config));
  const { client, close } = openKubeClient({ kubeconfig: sandbox.line.kubeconfig ?? "", userAgent: "azlb-bench" });
  const controller = startControllerProcess(sandbox);
  const watch = new AddressWatch(client);
  const control = new AzureControl(sandbox.line.azureControlUrl ?? "");
  try {
    const startMs = realClock.monotonicMs();
    await Promise.all([
      createServices(client, external),
      createServices(client, internal, FIRST_INTERNAL, {}, INTERNAL),
    ]);
    await watch.served(external + internal, WITHIN_MS);
    const totalMs = realClock.monotonicMs() - startMs;
    const entries = await control.audit();
    const places = await placesOf(sandbox);
    await controller.close();
    const writes = await writesOfStart(sandbox, control);
    return report({ external, internal, totalMs, entries, places, writes });
  } finally {
    await watch.close();
    await close();
    await controller.close();
    await sandbox.close();
  }
}

/** By Service, what explain says; nothing where it names no load balancer. */
async function placesOf({ line }: SandboxProcess): Promise<ReadonlyMap<string, string | undefined>> {
  const options = {
    kubeconfig: line.kubeconfig ?? "",
    cloudConfig: { kind: "file", path: line.cloudConfig ?? "" },
    clusterName: "kubernetes",
    env: {},
    log: SILENT_LOG,
  } as const;
  return withClusterView(options, async (view: ClusterView) => {
    const places = new Map<string, string | undefined>();
    for (const service of view.services) {
      const text = explain(await view.observe(service)).lines.join("\n");
      places.set(serviceKey(service), PLACED.exec(text)?.[1]);
    }
    return places;
  });
}

const QUIET_MS = 10_000;
const POLL_MS = 500;

/** Of a controller that starts anew, until it has been quiet for a while. */
async function writesOfStart(sandbox: SandboxProcess, control: AzureControl): Promise<number> {
  const before = await control.lastSequence();
  const controller = startControllerProcess(sandbox);
  try {
    let [last, sinceMs] = [before, realClock.monotonicMs()];
    while (last === before || realClock.monotonicMs() - sinceMs < QUIET_MS) {
      await realClock.sleep(POLL_MS);
      const now = await control.lastSequence();
      if (now !== last) [last, sinceMs] = [now, realClock.monotonicMs()];
    }
    return countWrites(await control.audit(before));
  } finally {
    await controller.close();
  }
}

interface Outcome {
  readonly external: number;
  readonly internal: number;
  readonly totalMs: number;
  readonly entries: readonly AuditEntry[];
  readonly places: ReadonlyMap<string, string | undefined>;
  /** Of a second start. */
  readonly writes: number;
}

function report({ external, internal, totalMs, entries, places, writes }: Outcome): BenchReport {
  const refused = entries.filter(({ status }) => status === 400 || status === 413);
  const named = [...places.values()].filter((place) => place !== undefined);
  const perPlace = Map.groupBy(named, (place) => place);
  const counts = [...perPlace].sort(([one], [other]) => one.localeCompare(other));
  const calls = countCalls(entries);
  return {
    scenario: "fleet",
    figures: {
      "all have addresses, ms": totalMs,
      ...Object.fromEntries(counts.map(([place, list]) => [`Services on ${place}`, list.length])),
      "PUTs of load balancers": calls.get("PUT loadBalancers") ?? 0,
      "PUTs of pools": calls.get("PUT loadBalancers/backendAddressPools") ?? 0,
    },
    bars: {
      "requests that Azure refused": atMost(refused.length, 0),
      "Services that explain places nowhere": atMost(external + internal - named.length, 0),
      "most Services on one load balancer": atMost(Math.max(...counts.map(([, list]) => list.length)), 600),
      "writes after a restart": atMost(writes, 0),
    },
    notes: [`Azure's own limits; ${external} external and ${internal} internal Services`],
  };
}
