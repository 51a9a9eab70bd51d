/**
 * The agent as a process: real connections and real time. Loads as little as it can, because one runs on every node: a
 * kubeconfig's parser only where there is a kubeconfig. What it does is `agent/agent.ts`'s.
 */
import { homedir } from "node:os";

import { Agent, type AgentOptions } from "../agent/agent.ts";
import { Approver } from "../agent/approver.ts";
import { MetadataClient } from "../agent/metadata-client.ts";
import { NodeWriter, UnboundAgent } from "../agent/node-writer.ts";
import type { Node } from "../core/model/kubernetes.ts";
import type { Log } from "../core/util/log.ts";
import type { ClusterAccess } from "../kube/client/cluster-access.ts";
import { inCluster } from "../kube/client/in-cluster.ts";
import { KubeClient } from "../kube/client/kube-client.ts";
import { type KubeObject, NODES } from "../kube/client/resources.ts";
import { LightTransport } from "../kube/client/light-transport.ts";
import { LiveCredentials } from "../kube/client/live-credentials.ts";
import { realClock } from "./real-clock.ts";
import { VERSION } from "./version.ts";

export interface AgentProcessOptions extends Pick<AgentOptions, "nodeName" | "taints" | "pollMs"> {
  readonly kubeconfig?: string | undefined;
  readonly metadataUrl: string;
  /** Events are approved so long after all their machines are out of their load balancers; absent: never. */
  readonly approveAfterMs?: number | undefined;
  /**
   * Taints are written only where a policy keeps the agent to its own Node. Absent: in a pod with its ServiceAccount; not with a
   * kubeconfig, whose identity somebody has chosen.
   */
  readonly needsPolicy?: boolean;
  readonly log: Log;
}

/** A notice may be 30 s: an API server that does not answer is asked again soon. */
const TIMEOUT_MS = 5_000;

/** Runs until the signal is aborted. */
export async function runAgent(options: AgentProcessOptions, signal: AbortSignal): Promise<void> {
  const { nodeName, kubeconfig, metadataUrl, approveAfterMs: graceMs, log } = options;
  const credentials = new LiveCredentials(await clusterAccess(kubeconfig), realClock);
  const client = new KubeClient({
    transport: new LightTransport(credentials),
    clock: realClock,
    userAgent: `azlb-agent/${VERSION}`,
    timeoutMs: TIMEOUT_MS,
  });
  const metadata = new MetadataClient(metadataUrl);
  const nodes = async (ending: AbortSignal): Promise<readonly Node[]> =>
    (await client.list<Node & KubeObject>(NODES, {}, ending)).items;
  const approver =
    graceMs === undefined ? undefined : new Approver({ graceMs, metadata, nodes, clock: realClock, log });
  const writer = new NodeWriter({ client, nodeName, needsPolicy: options.needsPolicy ?? isPod(kubeconfig) });
  const agent = new Agent({
    ...options,
    metadata,
    approver,
    writer,
    clock: realClock,
    random: Math.random,
  });
  log.info("the agent is running", { node: nodeName, taints: options.taints !== undefined });
  await Promise.all([options.taints && tellIfUnbound(writer, log, signal), agent.run(signal)]);
  metadata.close();
}

/** At the start, so that nobody learns of a missing policy from an eviction. What else is wrong is told when it matters. */
async function tellIfUnbound(writer: NodeWriter, log: Log, signal: AbortSignal): Promise<void> {
  await writer.checkBound(signal).catch((error: unknown) => {
    if (error instanceof UnboundAgent) log.warn(error.message);
  });
}

/** Whether the identity is that of the pod. */
function isPod(kubeconfig: string | undefined): boolean {
  const { env } = process;
  return kubeconfig === undefined && !env["KUBECONFIG"] && env["KUBERNETES_SERVICE_HOST"] !== undefined;
}

async function clusterAccess(kubeconfig: string | undefined): Promise<ClusterAccess> {
  const { env } = process;
  if (isPod(kubeconfig)) return inCluster(env);
  const { findCluster } = await import("../kube/client/find-cluster.ts");
  return findCluster({ kubeconfig, env, homeDir: homedir() });
}
