/** `azlb kube`: the embedded Kubernetes API alone. Flags in, one line of facts out; the rest is `sandbox/kubernetes`. */
import type { Command } from "commander";

import type { ClusterNode, RunningKubernetes } from "../../sandbox/kubernetes/index.ts";
import { InputError } from "./input-error.ts";
import { renderSandboxLine, untilSignal, type SandboxLine } from "./sandbox-line.ts";

interface KubeFlags {
  readonly port: string;
  readonly controlPort: string;
  readonly nodes: string;
  readonly withoutSimulation?: boolean;
  readonly dataDir?: string;
  readonly json?: boolean;
}

export function registerKube(azlb: Command): void {
  azlb
    .command("kube")
    .description("start the embedded Kubernetes API on loopback and say how to reach it")
    .option("--json", "print one line of JSON when ready")
    .option("--port <port>", "HTTPS port of the API (0: a free one)", "0")
    .option("--control-port <port>", "port of the control endpoint", "0")
    .option("--nodes <count>", "nodes to register", "3")
    .option("--without-simulation", "a bare API server: no node becomes Ready, no pod runs")
    .option("--data-dir <dir>", "keep state, certificates and kubeconfig here (default: memory)")
    .action(run);
}

async function run(flags: KubeFlags): Promise<void> {
  const { startKubernetes } = await import("../../sandbox/kubernetes/index.ts");
  const kubernetes = await startKubernetes({
    port: wholeNumber("--port", flags.port),
    controlPort: wholeNumber("--control-port", flags.controlPort),
    simulate: flags.withoutSimulation !== true,
    nodes: exampleNodes(wholeNumber("--nodes", flags.nodes)),
    ...(flags.dataDir === undefined ? {} : { dataDir: flags.dataDir }),
    log: (line) => process.stderr.write(`${line}\n`),
  });
  process.stdout.write(flags.json === true ? renderSandboxLine(kubernetesLine(kubernetes)) : welcome(kubernetes));
  await untilSignal();
  await kubernetes.close();
}

/** Machines of the sandbox's subnet, named as a scale set names them. */
function exampleNodes(count: number): ClusterNode[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `node-${index}`,
    internalIPs: [`10.240.${Math.floor((index + 4) / 256)}.${(index + 4) % 256}`],
  }));
}

function wholeNumber(flag: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new InputError(`${flag} must be a whole number, not "${text}"`);
}

/** Kubernetes' part of the line that every sandbox command prints. */
export function kubernetesLine(kubernetes: RunningKubernetes): Partial<SandboxLine> {
  return { kubeconfig: kubernetes.kubeconfig, caFile: kubernetes.caFile, env: { KUBECONFIG: kubernetes.kubeconfig } };
}

function welcome(kubernetes: RunningKubernetes): string {
  return [
    `Kubernetes is running at ${kubernetes.url}. Ctrl-C stops it.`,
    ``,
    `  export KUBECONFIG=${kubernetes.kubeconfig}`,
    `  kubectl get nodes`,
    ``,
    `  control  ${kubernetes.controlUrl}   (faults, cut watches, compaction: docs/embedded-kubernetes.md)`,
    ``,
  ].join("\n");
}
