/** A node added to a cluster with many Services: the number of calls to Azure must not grow with the number of Services. */
import { ensureNodes } from "../../src/main/sandbox-nodes.ts";
import { atMost, type BenchReport } from "../report.ts";
import { countReads, countWrites } from "../support/azure-control.ts";
import { limitsFor } from "../support/limits.ts";
import { openSettledCluster } from "../support/settled-cluster.ts";

const NODES = 20;

export async function benchNodeChurn(sizes: readonly number[], loadBalancers = 1): Promise<BenchReport> {
  const figures: Record<string, number> = {};
  const calls: number[] = [];
  for (const services of sizes) {
    const cluster = await openSettledCluster(services, NODES, { loadBalancers });
    try {
      const node = { name: "newcomer", internalIPs: ["10.240.200.1"] };
      const added = await cluster.callsFor(() => ensureNodes(cluster.client, [node]));
      figures[`${services} Services: reads for a node added`] = countReads(added);
      figures[`${services} Services: writes for a node added`] = countWrites(added);
      calls.push(countReads(added) + countWrites(added));
    } finally {
      await cluster.close();
    }
  }
  const growth = Math.max(...calls) - (calls[0] ?? 0);
  return {
    scenario: "node-churn",
    figures,
    bars: { [`more calls with ${sizes.at(-1)} Services than with ${sizes[0]}`]: atMost(growth, 0) },
    notes: limitsFor(Math.max(...sizes)).notes,
  };
}
