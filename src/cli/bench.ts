/**
 * `azlb bench SCENARIO`: runs a benchmark and prints its table, or with `--json` its report. Exit code 1 when a bar
 * does not hold. Every scenario stands in `bench/` and is named in the table below.
 */
import type { Command } from "commander";

import { parseFlagNumber } from "./flag-values.ts";
import { renderReport, type BenchReport } from "../../bench/report.ts";
import { withStolenShare } from "../../bench/support/stolen-time.ts";

interface Scenario {
  readonly description: string;
  /** Adds the scenario's own options; they are handed to `run` as commander reads them. */
  readonly configure?: (command: Command) => Command;
  readonly run: (flags: Readonly<Record<string, unknown>>) => Promise<BenchReport>;
}

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  "bulk-create": {
    description: "many Services at once, against one at a time",
    configure: (command) =>
      command
        .option("--services <count>", "Services created at once", "200")
        .option("--nodes <count>", "nodes of the cluster", "100")
        .option("--latency <profile>", "as of azlb azure", "0.1")
        .option("--baseline-services <count>", "Services of the one-at-a-time baseline", "40")
        .option("--controller <which>", "ours, or external: attach your own to the sandbox that is printed", "ours"),
    run: async (flags) =>
      (await import("../../bench/scenarios/bulk-create.ts")).benchBulkCreate({
        services: parseFlagNumber("--services", String(flags["services"]), 1, 10_000),
        nodes: parseFlagNumber("--nodes", String(flags["nodes"]), 1, 5_000),
        latency: String(flags["latency"]),
        baselineServices: parseFlagNumber("--baseline-services", String(flags["baselineServices"]), 1, 10_000),
        controller: flags["controller"] === "external" ? "external" : "ours",
      }),
  },
  "node-churn": {
    description: "calls to Azure for a node added, by the number of Services",
    configure: withSizes,
    run: async (flags) => (await import("../../bench/scenarios/node-churn.ts")).benchNodeChurn(sizesOf(flags)),
  },
  resync: {
    description: "calls to Azure for a restart with nothing changed, by the number of Services",
    configure: withSizes,
    run: async (flags) => (await import("../../bench/scenarios/resync.ts")).benchResync(sizesOf(flags)),
  },
  memory: {
    description: "memory at rest and processor time per change, in a large cluster",
    configure: (command) =>
      command
        .option("--services <count>", "Services", "2000")
        .option("--nodes <count>", "nodes", "2000")
        .option("--changes <count>", "Services changed", "50"),
    run: async (flags) =>
      (await import("../../bench/scenarios/memory.ts")).benchMemory({
        services: parseFlagNumber("--services", String(flags["services"]), 1, 20_000),
        nodes: parseFlagNumber("--nodes", String(flags["nodes"]), 1, 5_000),
        changes: parseFlagNumber("--changes", String(flags["changes"]), 1, 20_000),
      }),
  },
  drain: {
    description:
      "from a taint to the write that Azure receives: alone, beside Services being created, and a hundred at once",
    configure: (command) =>
      command
        .option("--nodes <count>", "nodes of the cluster", "1000")
        .option("--services <count>", "Services of the cluster", "500"),
    run: async (flags) =>
      (await import("../../bench/scenarios/drain.ts")).benchDrain({
        nodes: parseFlagNumber("--nodes", String(flags["nodes"]), 30, 5_000),
        services: parseFlagNumber("--services", String(flags["services"]), 1, 10_000),
      }),
  },
  backends: {
    description: "many pods in a few load balancers through lbcf-azure, and a rolling restart under traffic",
    configure: (command) =>
      command
        .option("--pods <count>", "pods", "10000")
        .option("--groups <count>", "BackendGroups", "20")
        .option("--load-balancers <count>", "LoadBalancers", "5")
        .option("--rolling <count>", "pods restarted under traffic", "1000")
        .option("--latency <profile>", "as of azlb azure", "none"),
    run: async (flags) =>
      (await import("../../bench/scenarios/backends.ts")).benchBackends({
        pods: parseFlagNumber("--pods", String(flags["pods"]), 1, 50_000),
        groups: parseFlagNumber("--groups", String(flags["groups"]), 1, 1_000),
        loadBalancers: parseFlagNumber("--load-balancers", String(flags["loadBalancers"]), 1, 100),
        rolling: parseFlagNumber("--rolling", String(flags["rolling"]), 0, 50_000),
        latency: String(flags["latency"]),
      }),
  },
  "drain-connections": {
    description: "what clients see when a node is doomed, with admin state and without",
    configure: (command) => command.option("--picture <file>", "write both timelines there, as SVG"),
    run: async (flags) =>
      (await import("../../bench/scenarios/drain-connections.ts")).benchDrainConnections({
        picture: typeof flags["picture"] === "string" ? flags["picture"] : undefined,
      }),
  },
  emulator: {
    description: "what the Azure emulator itself costs: GET and PUT of a 1 MB load balancer",
    run: async () => (await import("../../bench/scenarios/emulator.ts")).benchEmulator(),
  },
  kube: {
    description: "what it costs to know a large cluster, beside @kubernetes/client-node",
    run: async () => (await import("../../bench/scenarios/kube.ts")).benchKube(),
  },
};

function withSizes(command: Command): Command {
  return command.option("--services <counts>", "numbers of Services to compare", "100,400,1600");
}

function sizesOf(flags: Readonly<Record<string, unknown>>): number[] {
  return String(flags["services"])
    .split(",")
    .map((text) => parseFlagNumber("--services", text.trim(), 1, 20_000));
}

function withNote(report: BenchReport, stolenShare: number | undefined): BenchReport {
  if (stolenShare === undefined) return report;
  const note = `the host gave ${(stolenShare * 100).toFixed(1)} % of this machine's processor time to others meanwhile`;
  return { ...report, notes: [...(report.notes ?? []), note] };
}

export function registerBench(azlb: Command): void {
  const bench = azlb.command("bench").description("measure, and say whether the bars hold");
  for (const [name, { description, configure = (command: Command) => command, run }] of Object.entries(SCENARIOS)) {
    configure(bench.command(name).description(description).option("--json", "print one JSON object")).action(
      async (flags: Readonly<Record<string, unknown>>) => {
        const { result, stolenShare } = await withStolenShare(() => run(flags));
        const report = withNote(result, stolenShare);
        process.stdout.write(flags["json"] === true ? `${JSON.stringify(report)}\n` : renderReport(report));
        if (Object.values(report.bars).some(({ holds }) => !holds)) process.exitCode = 1;
      },
    );
  }
}
