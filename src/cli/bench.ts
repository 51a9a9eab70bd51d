/**
 * `azlb bench SCENARIO`: runs a benchmark and prints its table, or its report with `--json`. Exit code 1 if a threshold is
 * missed. The scenarios themselves are `bench/scenarios`.
 */
import { accessSync, constants } from "node:fs";

import type { Command } from "commander";

import { errorText } from "../core/util/text.ts";
import { parseFlagNumber } from "./flag-values.ts";
import { InputError } from "./input-error.ts";
import { showElapsed, terminalProgress } from "./progress.ts";
import { renderReport, type BenchReport } from "../../bench/report.ts";
import { withStolenShare } from "../../bench/support/stolen-time.ts";

interface Scenario {
  readonly description: string;
  /** Adds the options of the scenario; `run` gets them as commander parses them. */
  readonly configure?: (command: Command) => Command;
  readonly run: (flags: Readonly<Record<string, unknown>>) => Promise<BenchReport>;
}

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  "bulk-create": {
    description: "create many Services at once, compared with one at a time",
    configure: (command) =>
      command
        .option("--services <count>", "Services created at once", "200")
        .option("--nodes <count>", "nodes of the cluster", "100")
        .option("--latency <profile>", "latency of the emulator, as in azlb azure", "0.1")
        .option("--baseline-services <count>", "Services of the baseline, which is one at a time", "40")
        .option("--load-balancers <count>", "Standard load balancers that they are placed on", "1")
        .option(
          "--controller <which>",
          "ours, or external: print the sandbox and measure the controller that you attach",
          "ours",
        ),
    run: async (flags) =>
      (await import("../../bench/scenarios/bulk-create.ts")).benchBulkCreate({
        services: parseFlagNumber("--services", String(flags["services"]), 1, 10_000),
        nodes: parseFlagNumber("--nodes", String(flags["nodes"]), 1, 5_000),
        latency: String(flags["latency"]),
        baselineServices: parseFlagNumber("--baseline-services", String(flags["baselineServices"]), 1, 10_000),
        loadBalancers: loadBalancersOf(flags),
        controller: flags["controller"] === "external" ? "external" : "ours",
      }),
  },
  versus: {
    description: "azlb and the incumbent's own program: many Services at once, a node added, a restart",
    configure: (command) =>
      command
        .requiredOption("--incumbent <binary>", "path of cloud-controller-manager")
        .option("--services <count>", "Services created at once", "60")
        .option("--nodes <count>", "nodes of the cluster", "100")
        .option("--latency <profile>", "latency of the emulator, as in azlb azure", "0.2"),
    run: async (flags) =>
      (await import("../../bench/scenarios/versus.ts")).benchVersus({
        incumbent: incumbentOf(String(flags["incumbent"])),
        services: parseFlagNumber("--services", String(flags["services"]), 1, 10_000),
        nodes: parseFlagNumber("--nodes", String(flags["nodes"]), 1, 5_000),
        latency: String(flags["latency"]),
      }),
  },
  fleet: {
    description:
      "more Services than one load balancer can hold, within Azure's limits, on a fleet that grows by itself",
    configure: (command) =>
      command
        .option("--external <count>", "external Services", "900")
        .option("--internal <count>", "internal Services", "1100")
        .option("--nodes <count>", "nodes of the cluster", "10"),
    run: async (flags) =>
      (await import("../../bench/scenarios/fleet.ts")).benchFleet({
        external: parseFlagNumber("--external", String(flags["external"]), 1, 1_000),
        internal: parseFlagNumber("--internal", String(flags["internal"]), 1, 10_000),
        nodes: parseFlagNumber("--nodes", String(flags["nodes"]), 1, 5_000),
      }),
  },
  "node-churn": {
    description: "calls to Azure when a node is added, by number of Services",
    configure: withSizes,
    run: async (flags) =>
      (await import("../../bench/scenarios/node-churn.ts")).benchNodeChurn(sizesOf(flags), loadBalancersOf(flags)),
  },
  resync: {
    description: "calls to Azure after a restart without changes, by number of Services",
    configure: withSizes,
    run: async (flags) =>
      (await import("../../bench/scenarios/resync.ts")).benchResync(sizesOf(flags), loadBalancersOf(flags)),
  },
  "local-churn": {
    description: "writes of pools when endpoints of Services with externalTrafficPolicy Local change in a burst",
    configure: (command) =>
      command
        .option("--services <count>", "Services with a pool of their own", "200")
        .option("--changes <count>", "changes of EndpointSlices in the burst", "1000"),
    run: async (flags) =>
      (await import("../../bench/scenarios/local-churn.ts")).benchLocalChurn({
        services: parseFlagNumber("--services", String(flags["services"]), 1, 1_000),
        changes: parseFlagNumber("--changes", String(flags["changes"]), 1, 100_000),
      }),
  },
  fairness: {
    description: "time to serve a new Service beside 25 of another namespace that never settle, under throttling",
    run: async () => (await import("../../bench/scenarios/fairness.ts")).benchFairness(),
  },
  memory: {
    description: "memory at rest and CPU time per change in a large cluster",
    configure: (command) =>
      command
        .option("--services <count>", "Services", "2000")
        .option("--nodes <count>", "nodes", "2000")
        .option("--changes <count>", "number of Services to change", "50")
        .option("--shipped", "the bundle, started as its image starts it (npm run build first)", false)
        .option("--churn <seconds>", "change Services and Nodes for this long, and see whether memory grows", "0"),
    run: async (flags) =>
      (await import("../../bench/scenarios/memory.ts")).benchMemory({
        services: parseFlagNumber("--services", String(flags["services"]), 1, 20_000),
        nodes: parseFlagNumber("--nodes", String(flags["nodes"]), 1, 5_000),
        changes: parseFlagNumber("--changes", String(flags["changes"]), 1, 20_000),
        shipped: flags["shipped"] === true,
        churnSeconds: parseFlagNumber("--churn", String(flags["churn"]), 0, 86_400),
      }),
  },
  agent: {
    description:
      "memory and processor time of the agent at rest, above an empty process that polls (npm run build first)",
    configure: (command) => command.option("--seconds <count>", "how long to look", "60"),
    run: async (flags) =>
      (await import("../../bench/scenarios/agent.ts")).benchAgent({
        seconds: parseFlagNumber("--seconds", String(flags["seconds"]), 5, 86_400),
      }),
  },
  drain: {
    description:
      "time from a taint to the write that Azure receives: one by one, beside Services being created, and a hundred at once",
    configure: (command) =>
      command
        .option("--nodes <count>", "nodes of the cluster", "1000")
        .option("--services <count>", "Services of the cluster", "500")
        .option("--load-balancers <count>", "Standard load balancers that they are placed on", "1")
        .option("--fleet", "each of the load balancers has all nodes"),
    run: async (flags) =>
      (await import("../../bench/scenarios/drain.ts")).benchDrain({
        isFleet: flags["fleet"] === true,
        loadBalancers: loadBalancersOf(flags),
        nodes: parseFlagNumber("--nodes", String(flags["nodes"]), 30, 5_000),
        services: parseFlagNumber("--services", String(flags["services"]), 1, 10_000),
      }),
  },
  backends: {
    description: "register many pods through LBCF (lb-controlling-framework), then restart some under traffic",
    configure: (command) =>
      command
        .option("--pods <count>", "pods", "10000")
        .option("--groups <count>", "BackendGroups", "20")
        .option("--load-balancers <count>", "LoadBalancers", "5")
        .option("--rolling <count>", "pods to restart under traffic", "1000")
        .option("--latency <profile>", "latency of the emulator, as in azlb azure", "none")
        .option("--shipped", "the bundle, started as its image starts it (npm run build first)", false),
    run: async (flags) =>
      (await import("../../bench/scenarios/backends.ts")).benchBackends({
        pods: parseFlagNumber("--pods", String(flags["pods"]), 1, 50_000),
        groups: parseFlagNumber("--groups", String(flags["groups"]), 1, 1_000),
        loadBalancers: parseFlagNumber("--load-balancers", String(flags["loadBalancers"]), 1, 100),
        rolling: parseFlagNumber("--rolling", String(flags["rolling"]), 0, 50_000),
        latency: String(flags["latency"]),
        shipped: flags["shipped"] === true,
      }),
  },
  "drain-connections": {
    description: "errors that clients see when a Spot node is evicted, with the agent and without",
    configure: (command) =>
      command
        .option("--notice <seconds>", "notice of the eviction", "30")
        .option("--picture <file>", "write an SVG chart of both timelines to this file"),
    run: async (flags) =>
      (await import("../../bench/scenarios/drain-connections.ts")).benchDrainConnections({
        picture: typeof flags["picture"] === "string" ? flags["picture"] : undefined,
        noticeSeconds: parseFlagNumber("--notice", String(flags["notice"]), 5, 600),
      }),
  },
  dashboard: {
    description: "the page with a large cluster, in a real browser: first paint, bytes, elements, memory",
    configure: (command) =>
      command
        .option("--services <count>", "Services of the cluster", "2000")
        .option("--nodes <count>", "nodes of the cluster", "1000"),
    run: async (flags) =>
      (await import("../../bench/scenarios/dashboard.ts")).benchDashboard({
        services: parseFlagNumber("--services", String(flags["services"]), 10, 20_000),
        nodes: parseFlagNumber("--nodes", String(flags["nodes"]), 10, 5_000),
      }),
  },
  emulator: {
    description: "cost of the Azure emulator itself: GET and PUT of a 1 MB load balancer",
    run: async () => (await import("../../bench/scenarios/emulator.ts")).benchEmulator(),
  },
  kube: {
    description: "cost of caching a large cluster, compared with @kubernetes/client-node",
    run: async () => (await import("../../bench/scenarios/kube.ts")).benchKube(),
  },
};

function withSizes(command: Command): Command {
  return command
    .option("--services <counts>", "numbers of Services to compare", "100,400,1600")
    .option("--load-balancers <count>", "Standard load balancers that they are placed on", "1");
}

function loadBalancersOf(flags: Readonly<Record<string, unknown>>): number {
  return parseFlagNumber("--load-balancers", String(flags["loadBalancers"]), 1, 20);
}

function incumbentOf(path: string): string {
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch (error) {
    throw new InputError(`--incumbent ${path} cannot be run: ${errorText(error)}; name a cloud-controller-manager`);
  }
}

function sizesOf(flags: Readonly<Record<string, unknown>>): number[] {
  return String(flags["services"])
    .split(",")
    .map((text) => parseFlagNumber("--services", text.trim(), 1, 20_000));
}

function withNote(report: BenchReport, stolenShare: number | undefined): BenchReport {
  if (stolenShare === undefined) return report;
  const note = `steal time: the host gave ${(stolenShare * 100).toFixed(1)} % of the processor time to other guests`;
  return { ...report, notes: [...(report.notes ?? []), note] };
}

export function registerBench(azlb: Command): void {
  const bench = azlb.command("bench").description("run benchmarks; exit 1 if a threshold is missed");
  for (const [name, { description, configure = (command: Command) => command, run }] of Object.entries(SCENARIOS)) {
    configure(bench.command(name).description(description).option("--json", "print one JSON object")).action(
      async (flags: Readonly<Record<string, unknown>>) => {
        const progress = terminalProgress(process.stderr);
        const stop = showElapsed(progress, `bench ${name}`);
        const { result, stolenShare } = await withStolenShare(() => run(flags)).finally(stop);
        const report = withNote(result, stolenShare);
        process.stdout.write(flags["json"] === true ? `${JSON.stringify(report)}\n` : renderReport(report));
        if (Object.values(report.bars).some(({ holds }) => !holds)) process.exitCode = 1;
      },
    );
  }
}
