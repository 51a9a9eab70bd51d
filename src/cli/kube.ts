/**
 * `azlb kube`: runs the embedded Kubernetes API alone. Reads flags and prints how to reach it; the API itself is
 * `sandbox/kubernetes`.
 */
import type { Command } from "commander";

import type { ClusterNode, KubernetesOptions, RunningKubernetes } from "../../sandbox/kubernetes/index.ts";
import { parseFlagNumber } from "./flag-values.ts";
import { InputError, portErrorOf } from "./input-error.ts";
import { renderSandboxLine, untilSignal, type SandboxLine } from "./sandbox-line.ts";

const MOST_PORT = 65_535;
const MOST_NODES = 5_000;

interface KubeFlags {
  readonly port: string;
  readonly controlPort: string;
  readonly nodes: string;
  readonly withoutSimulation?: boolean;
  readonly dataDir?: string;
  readonly acceptJournalLoss?: boolean;
  readonly json?: boolean;
}

export function registerKube(azlb: Command): void {
  azlb
    .command("kube")
    .description("start the embedded Kubernetes API on loopback and print how to reach it")
    .option("--json", "print one line of JSON when ready")
    .option("--port <port>", "HTTPS port of the API; 0: any free port", "0")
    .option("--control-port <port>", "port of the control endpoint", "0")
    .option("--nodes <count>", "nodes to register", "3")
    .option("--without-simulation", "API server only: no node becomes Ready, no pod runs")
    .option("--data-dir <dir>", "directory for state, certificates and kubeconfig (default: in memory only)")
    .option(
      "--accept-journal-loss",
      "start from a damaged journal in --data-dir, without the damaged record and those after it",
    )
    .action(run);
}

async function run(flags: KubeFlags): Promise<void> {
  const kubernetes = await start({
    port: parseFlagNumber("--port", flags.port, 0, MOST_PORT),
    controlPort: parseFlagNumber("--control-port", flags.controlPort, 0, MOST_PORT),
    simulate: flags.withoutSimulation !== true,
    nodes: exampleNodes(parseFlagNumber("--nodes", flags.nodes, 0, MOST_NODES)),
    acceptJournalLoss: flags.acceptJournalLoss ?? false,
    ...(flags.dataDir === undefined ? {} : { dataDir: flags.dataDir }),
    log: (line) => process.stderr.write(`${line}\n`),
  });
  process.stdout.write(flags.json === true ? renderSandboxLine(kubernetesLine(kubernetes)) : welcome(kubernetes));
  await untilSignal();
  await kubernetes.close();
}

/** Turns errors that the user can fix into an `InputError`. */
async function start(options: KubernetesOptions): Promise<RunningKubernetes> {
  const { startKubernetes } = await import("../../sandbox/kubernetes/index.ts");
  try {
    return await startKubernetes(options);
  } catch (error) {
    const { path, message } = error as NodeJS.ErrnoException;
    if (path !== undefined) throw new InputError(`--data-dir ${options.dataDir ?? ""} cannot be used: ${message}`);
    throw portErrorOf(error);
  }
}

/** Nodes with addresses of the sandbox's subnet, without machines in an emulated Azure. */
function exampleNodes(count: number): ClusterNode[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `node-${index}`,
    internalIPs: [`10.240.${Math.floor((index + 4) / 256)}.${(index + 4) % 256}`],
  }));
}

/** Kubernetes' part of the line that the sandbox commands print. */
function kubernetesLine(kubernetes: RunningKubernetes): Partial<SandboxLine> {
  return {
    kubeconfig: kubernetes.kubeconfig,
    caFile: kubernetes.caFile,
    kubeControlUrl: kubernetes.controlUrl,
    env: { KUBECONFIG: kubernetes.kubeconfig },
  };
}

function welcome(kubernetes: RunningKubernetes): string {
  return [
    `Kubernetes is running at ${kubernetes.url}. Ctrl-C stops it.`,
    ``,
    `  export KUBECONFIG=${kubernetes.kubeconfig}`,
    `  kubectl get nodes`,
    ``,
    `  control endpoint  ${kubernetes.controlUrl}   (faults, cut watches, compaction: docs/embedded-kubernetes.md)`,
    ``,
  ].join("\n");
}
