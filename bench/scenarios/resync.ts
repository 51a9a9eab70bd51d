/** A restart with nothing changed: no write, and a number of reads that does not grow with the number of Services. */
import { atMost, type BenchReport } from "../report.ts";
import { type AzureControl, countReads, countWrites } from "../support/azure-control.ts";
import { limitsFor } from "../support/limits.ts";
import { startControllerProcess } from "../support/sandbox-process.ts";
import { openSettledCluster } from "../support/settled-cluster.ts";

const NODES = 20;

export async function benchResync(sizes: readonly number[], loadBalancers = 1): Promise<BenchReport> {
  const figures: Record<string, number> = {};
  const reads: number[] = [];
  let writes = 0;
  for (const services of sizes) {
    const cluster = await openSettledCluster(services, NODES, { loadBalancers });
    try {
      await cluster.controller.close();
      const asked = await cluster.callsFor(async () => {
        cluster.controller = startControllerProcess(cluster.sandbox, []);
        await firstRead(cluster.control);
      });
      figures[`${services} Services: reads at a restart`] = countReads(asked);
      figures[`${services} Services: writes at a restart`] = countWrites(asked);
      reads.push(countReads(asked));
      writes += countWrites(asked);
    } finally {
      await cluster.close();
    }
  }
  return {
    scenario: "resync",
    figures,
    bars: {
      "writes at restarts": atMost(writes, 0),
      [`more reads with ${sizes.at(-1)} Services than with ${sizes[0]}`]: atMost(
        Math.max(...reads) - (reads[0] ?? 0),
        0,
      ),
    },
    notes: limitsFor(Math.max(...sizes)).notes,
  };
}

/** Resolves when the new process has sent its first request to Azure. */
async function firstRead(control: AzureControl): Promise<void> {
  const before = await control.lastSequence();
  while ((await control.lastSequence()) === before) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
