/**
 * What an agent costs its node at rest: memory above an empty Node process that asks the same URL as often, started with the same flags,
 * and processor time. The bundle, in a pod as far as it can tell: without a kubeconfig. Nothing is announced, so that it sends
 * nothing to the API server.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";

import { startAzure } from "../../sandbox/azure/index.ts";
import { realClock } from "../../src/main/real-clock.ts";
import { atMost, type BenchReport } from "../report.ts";
import { cpuMs, rssMb } from "../support/process-usage.ts";
import { shippedAgent, type Command } from "../support/shipped-controller.ts";

export interface AgentBenchOptions {
  readonly seconds: number;
}

const MOST_MB_ABOVE = 15;
const MOST_CORE_PERCENT = 1;
/** What a start costs is not what rest costs. */
const SETTLE_MS = 10_000;
const PAUSE_MS = 1_000;
const EVENTS_PATH = "/metadata/scheduledevents?api-version=2020-07-01";

/** As the agent asks: over one kept connection. */
const EMPTY_PROCESS = `
  const { Agent, get } = require("node:http");
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  setInterval(() => get(process.argv[1], { agent, headers: { metadata: "true" } }, (answer) => answer.resume()), 1000);
`;

export async function benchAgent({ seconds }: AgentBenchOptions): Promise<BenchReport> {
  const command = shippedAgent();
  const azure = await startAzure({ topology: { nodes: 1 } });
  const children: ChildProcess[] = [];
  try {
    const node = azure.nodes[0]?.name ?? "";
    const url = `${azure.metadataUrl}/machines/${node}`;
    const flags = command.args.slice(0, -1);
    const agent = start(children, command, [...command.args, "agent", `--node-name=${node}`, `--metadata-url=${url}`]);
    const empty = start(children, command, [...flags, "-e", EMPTY_PROCESS, url + EVENTS_PATH]);
    await realClock.sleep(SETTLE_MS);
    const before = { agent: cpuMs(agent), empty: cpuMs(empty) };
    let [most, mostEmpty] = [0, 0];
    for (let second = 0; second < seconds; second++) {
      await realClock.sleep(PAUSE_MS);
      most = Math.max(most, rssMb(agent));
      mostEmpty = Math.max(mostEmpty, rssMb(empty));
    }
    const percent = (pid: number, sinceMs: number): number => ((cpuMs(pid) - sinceMs) / (seconds * 1_000)) * 100;
    return {
      scenario: "agent",
      figures: {
        "agent RSS at most, MB": most,
        "an empty process that polls, RSS at most, MB": mostEmpty,
        "... % of a core": percent(empty, before.empty),
      },
      bars: {
        "agent RSS above it, MB": atMost(most - mostEmpty, MOST_MB_ABOVE),
        "agent, % of a core": atMost(percent(agent, before.agent), MOST_CORE_PERCENT),
      },
      notes: [`${seconds} s at rest, after ${SETTLE_MS / 1_000} s`],
    };
  } finally {
    for (const child of children) await stop(child);
    await azure.close();
  }
}

/** Returns its process id. */
function start(children: ChildProcess[], { file, env }: Command, args: readonly string[]): number {
  // an API server that does not answer: at rest it is not asked
  const pod = { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: "9" };
  const child = spawn(file, args, { env: { ...env, ...pod }, stdio: ["ignore", "ignore", "inherit"] });
  children.push(child);
  if (child.pid === undefined) throw new Error(`${file} was not started`);
  return child.pid;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill();
  await once(child, "exit");
}
