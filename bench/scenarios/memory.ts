/** The cost of a large cluster at rest: resident memory, and processor time per changed Service. */
import { SERVICES } from "../../src/kube/client/resources.ts";
import type { BenchReport } from "../report.ts";
import { limitsFor } from "../support/limits.ts";
import { cpuMs, rssMb } from "../support/process-usage.ts";
import { openSettledCluster } from "../support/settled-cluster.ts";

export interface MemoryOptions {
  readonly services: number;
  readonly nodes: number;
  readonly changes: number;
}

export async function benchMemory({ services, nodes, changes }: MemoryOptions): Promise<BenchReport> {
  const cluster = await openSettledCluster(services, nodes);
  try {
    const { pid } = cluster.controller;
    const beforeMs = cpuMs(pid);
    await cluster.callsFor(() => changeServices(cluster, changes));
    const figures = {
      Services: services,
      nodes,
      "controller RSS, MB": rssMb(pid),
      "CPU per changed Service, ms": (cpuMs(pid) - beforeMs) / changes,
    };
    return { scenario: "memory", figures, bars: {}, notes: limitsFor(services).notes };
  } finally {
    await cluster.close();
  }
}

async function changeServices(
  { client }: Awaited<ReturnType<typeof openSettledCluster>>,
  changes: number,
): Promise<void> {
  for (let number = 0; number < changes; number++) {
    const annotations = { "service.beta.kubernetes.io/azure-load-balancer-tcp-idle-timeout": "10" };
    const place = { namespace: "default", name: `svc-${number}` };
    await client.patch(SERVICES, place, { merge: { metadata: { annotations } } });
  }
}
