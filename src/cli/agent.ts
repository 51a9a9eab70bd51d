/** `azlb agent`: runs on each node and tells the cluster what Azure has announced about its machine. */
import { Option, type Command } from "commander";

import { parseFlagBoolean, parseFlagDurationMs } from "./flag-values.ts";
import { InputError } from "./input-error.ts";
import { kubeconfigFlag } from "./cluster-flags.ts";
import { untilSignal } from "./sandbox-line.ts";

interface AgentFlags {
  readonly kubeconfig?: string;
  readonly nodeName?: string;
  readonly metadataUrl: string;
  readonly pollInterval: string;
  readonly writeTaints: string | boolean;
  readonly drainOnReboot: string | boolean;
  readonly approveAfter?: string;
  readonly logFormat?: "text" | "json";
}

/** As the DaemonSet has it, from the downward API. */
const NODE_NAME_VARIABLE = "NODE_NAME";
const SHORTEST_POLL_MS = 200;
const SHORTEST_GRACE_MS = 1_000;

export function registerAgent(azlb: Command): void {
  azlb
    .command("agent")
    .description("run on a node: tell the cluster of the Scheduled Events of its machine (evictions, reboots, …)")
    .addOption(kubeconfigFlag())
    .addOption(new Option("--node-name <name>", "name of the Node that it runs on").env(NODE_NAME_VARIABLE))
    .option("--metadata-url <url>", "instance metadata service of the machine", "http://169.254.169.254")
    .option("--poll-interval <duration>", "time between requests for Scheduled Events", "1s")
    .option(
      "--write-taints [bool]",
      "taint the Node itself; needs deploy/agent-policy.yaml and agent-taints.yaml (without: write Events only)",
      false,
    )
    .option("--drain-on-reboot [bool]", "drain the node before a Reboot or Redeploy too; with --write-taints", false)
    .option(
      "--approve-after <duration>",
      "let Azure carry an event out early, so long after Down is in effect for all its machines; needs deploy/agent-approval.yaml (without: never)",
    )
    .addOption(
      new Option("--log-format <format>", "format of the log (default: text on a terminal, otherwise json)").choices([
        "text",
        "json",
      ]),
    )
    .action(run);
}

async function run(flags: AgentFlags): Promise<void> {
  const writesTaints = parseFlagBoolean("--write-taints", flags.writeTaints);
  const drainOnReboot = parseFlagBoolean("--drain-on-reboot", flags.drainOnReboot);
  if (drainOnReboot && !writesTaints)
    throw new InputError("--drain-on-reboot needs --write-taints: without it the agent writes Events only");
  const options = {
    kubeconfig: flags.kubeconfig,
    nodeName: nodeNameOf(flags),
    metadataUrl: metadataUrlOf(flags),
    pollMs: pollMsOf(flags),
    approveAfterMs: approveAfterMsOf(flags),
    taints: writesTaints ? { drainOnReboot } : undefined,
  };
  const [{ runAgent }, { stderrLog }] = await Promise.all([
    import("../main/agent.ts"),
    import("../main/stderr-log.ts"),
  ]);
  const stopping = new AbortController();
  void untilSignal().then(() => stopping.abort(new Error("the agent stops")));
  await runAgent({ ...options, log: stderrLog(flags.logFormat) }, stopping.signal);
}

function nodeNameOf({ nodeName }: AgentFlags): string {
  if (nodeName !== undefined && /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(nodeName)) return nodeName;
  const what = nodeName === undefined ? "missing" : `"${nodeName}"`;
  throw new InputError(`--node-name is ${what}; it takes the name of a Node (also from ${NODE_NAME_VARIABLE})`);
}

function metadataUrlOf({ metadataUrl }: AgentFlags): string {
  if (URL.parse(metadataUrl)?.protocol === "http:") return metadataUrl;
  throw new InputError(`--metadata-url is "${metadataUrl}"; it takes an http:// URL`);
}

function approveAfterMsOf({ approveAfter }: AgentFlags): number | undefined {
  if (approveAfter === undefined) return undefined;
  const graceMs = parseFlagDurationMs("--approve-after", approveAfter);
  if (graceMs >= SHORTEST_GRACE_MS) return graceMs;
  throw new InputError(`--approve-after is "${approveAfter}"; connections need time to end: at least 1s`);
}

function pollMsOf({ pollInterval }: AgentFlags): number {
  const pollMs = parseFlagDurationMs("--poll-interval", pollInterval);
  if (pollMs >= SHORTEST_POLL_MS) return pollMs;
  throw new InputError(`--poll-interval is "${pollInterval}"; Azure allows five requests per second: at least 200ms`);
}
