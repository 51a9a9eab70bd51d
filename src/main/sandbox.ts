/**
 * The whole sandbox in one process: the Azure emulator, a Kubernetes API (embedded, or that of a kubeconfig) whose nodes are
 * the machines of that Azure, and the controller, which can be left out.
 */
import { startAzure, type AzureOptions, type RunningAzure, type SeedNode } from "../../sandbox/azure/index.ts";
import { startKubernetes, type ClusterNode } from "../../sandbox/kubernetes/index.ts";
import { ANY_STATIC_ADDRESS } from "../core/lbcf/azure/static-addresses.ts";
import { LOCAL_HOSTS } from "../core/lbcf/drivers/webhook-hosts.ts";
import type { Log } from "../core/util/log.ts";
import { CLUSTER_NAME } from "./cluster-name.ts";
import { startController, type RunningController } from "./controller.ts";
import { openKubeClient } from "./kube-access.ts";
import { ensureDefinitions } from "./lbcf-definitions.ts";
import { startBackends } from "./sandbox-backends.ts";
import { ensureNodes, keepAlive, SANDBOX_TAINT } from "./sandbox-nodes.ts";
import { ANY_PORTS, type SandboxPorts } from "./sandbox-ports.ts";
import { sandboxSwitches } from "./sandbox-switches.ts";

const FIRST_IPV6_HOST = 0x64;

export interface SandboxOptions {
  readonly azure: AzureOptions;
  /** Use this API server instead of the embedded one. */
  readonly kubeconfig?: string | undefined;
  readonly dataDir?: string | undefined;
  /** Of the embedded API; Azure has its own option. */
  readonly acceptJournalLoss?: boolean;
  readonly withController: boolean;
  /** Absent: any. */
  readonly ports?: SandboxPorts;
  /** Something answers behind the load balancers; needs the data plane. */
  readonly withBackends?: boolean;
  readonly log: Log;
}

export interface RunningSandbox {
  readonly azure: RunningAzure;
  readonly kubeconfig: string;
  readonly kubeControlUrl: string | null;
  readonly controller: RunningController | undefined;
  close(): Promise<void>;
}

export async function startSandbox(options: SandboxOptions): Promise<RunningSandbox> {
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    const { ports = ANY_PORTS } = options;
    const { azure: port, azureControl: controlPort, metadata: metadataPort } = ports;
    const azure = await startAzure({ port, controlPort, metadataPort, ...options.azure });
    closers.push(() => azure.close());
    if (options.withBackends === true) {
      const backends = await startBackends(azure.nodes, (table) => mapMembers(azure.controlUrl, table));
      closers.push(() => backends.close());
    }
    const cluster = await openCluster(options, azure.nodes.map(clusterNode));
    closers.push(cluster.close);
    await ensureDefinitions(cluster.kubeconfig);
    const controller = options.withController
      ? await startWithPage(options, azure, cluster.kubeconfig, closers)
      : undefined;
    return { azure, ...cluster, controller, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Cluster {
  readonly kubeconfig: string;
  readonly kubeControlUrl: string | null;
  readonly close: () => Promise<void>;
}

async function openCluster(options: SandboxOptions, nodes: ClusterNode[]): Promise<Cluster> {
  const { kubeconfig, dataDir, log, ports = ANY_PORTS } = options;
  if (kubeconfig !== undefined) {
    const { client, close } = openKubeClient({ kubeconfig, userAgent: "azlb-sandbox" });
    await ensureNodes(client, nodes, [SANDBOX_TAINT]);
    const end = keepAlive(client, nodes, log);
    const closeBoth = async (): Promise<void> => {
      await end();
      await close();
    };
    return { kubeconfig, kubeControlUrl: null, close: closeBoth };
  }
  const kubernetes = await startKubernetes({
    nodes,
    port: ports.kubernetes,
    controlPort: ports.kubeControl,
    simulate: true,
    acceptJournalLoss: options.acceptJournalLoss ?? false,
    log: (line) => log.info(line),
    ...(dataDir !== undefined && { dataDir: `${dataDir}/kubernetes` }),
  });
  return {
    kubeconfig: kubernetes.kubeconfig,
    kubeControlUrl: kubernetes.controlUrl,
    close: () => kubernetes.close(),
  };
}

/** The controller, with its page: open, on loopback, with switches. */
async function startWithPage(
  { log, ports = ANY_PORTS }: SandboxOptions,
  azure: RunningAzure,
  kubeconfig: string,
  closers: (() => Promise<void>)[],
): Promise<RunningController> {
  const lookAgain = (): void => controller.lookAgain?.();
  const switches = sandboxSwitches({ kubeconfig, azureControlUrl: azure.controlUrl, lookAgain });
  closers.push(() => switches.close());
  const controller: RunningController = await startController({
    kubeconfig,
    cloudConfig: { kind: "file", path: azure.cloudConfigFile },
    clusterName: CLUSTER_NAME,
    env: tracesOf(process.env),
    leaderElect: false,
    log,
    webhookHosts: LOCAL_HOSTS,
    lbcf: { staticAddresses: ANY_STATIC_ADDRESS },
    api: { host: "127.0.0.1", port: ports.page, sandbox: { switches } },
    health: { host: "127.0.0.1", port: ports.metrics },
  });
  closers.push(() => controller.close());
  return controller;
}

async function mapMembers(controlUrl: string, table: unknown): Promise<void> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${controlUrl}/members`, { method: "POST", headers, body: JSON.stringify(table) });
  if (!answer.ok) throw new Error(`the data plane refused the backends: ${await answer.text()}`);
}

/** Nodes get an IPv6 address as well, for dual-stack Services: that of their machine, or one that Azure does not know. */
function clusterNode({ name, ip, ipv6, providerId, zone }: SeedNode, at: number): ClusterNode {
  return {
    name,
    internalIPs: [ip, ipv6 ?? `fd00::${(FIRST_IPV6_HOST + at).toString(16)}`],
    providerID: providerId,
    labels: { "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone },
  };
}

/** The sandbox is the same whatever the environment, but for traces. */
function tracesOf(env: NodeJS.ProcessEnv): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith("OTEL_")));
}
