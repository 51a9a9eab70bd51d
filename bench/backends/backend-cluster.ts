/**
 * Pods by the thousand in an API server without kubelets: this file is their kubelet and their Deployment. Each pod has
 * an address of its own, and what listens there is one of two ports of this machine: the data plane's table says which.
 */
import { BACKEND_GROUPS, LOAD_BALANCERS } from "../../src/controller/lbcf/objects/resources.ts";
import { readBackendGroup } from "../../src/core/lbcf/groups/read-backend-group.ts";
import { readPod } from "../../src/core/lbcf/pods/read-pod.ts";
import type { KubeClient } from "../../src/kube/client/kube-client.ts";
import { PODS, type KubeObject } from "../../src/kube/client/resources.ts";
import { openKubeClient } from "../../src/main/kube-access.ts";
import { ensureDefinitions } from "../../src/main/lbcf-definitions.ts";
import { realClock } from "../../src/main/real-clock.ts";
import { ensureNodes } from "../../src/main/sandbox-nodes.ts";
import { connect, type KubeConnection } from "../../test/support/kube-connection.ts";
import { AzureControl } from "../support/azure-control.ts";
import { startPartProcess } from "../support/sandbox-process.ts";

const NAMESPACE = "default";
const AT_A_TIME = 32;
const POLL_MS = 250;
/** How long a pod that was told to end goes on accepting connections. */
export const GRACE_SECONDS = 15;
const GATE = "lbcf.tkestack.io/registered";
const NODES = Array.from({ length: 10 }, (_, at) => ({ name: `node-${at}`, internalIPs: [`10.240.0.${at + 10}`] }));

export interface BackendPod {
  readonly name: string;
  readonly ip: string;
  readonly group: number;
}

export interface BackendCluster {
  readonly client: KubeClient;
  readonly connection: KubeConnection;
  readonly control: AzureControl;
  readonly controlUrl: string;
  readonly line: { readonly kubeconfig: string | null; readonly cloudConfig: string | null };
  close(): Promise<void>;
}

export async function openBackendCluster(latency: string): Promise<BackendCluster> {
  const [kube, azure] = await Promise.all([
    startPartProcess("kube", ["--without-simulation", "--nodes", "0"]),
    startPartProcess("azure", ["--nodes", "1", "--data-plane", "--latency", latency]),
  ]);
  const kubeconfig = kube.line.kubeconfig ?? "";
  const { client, close } = openKubeClient({ kubeconfig, userAgent: "azlb-bench" });
  await ensureDefinitions(kubeconfig);
  await ensureNodes(client, NODES);
  const controlUrl = azure.line.azureControlUrl ?? "";
  const connection = connect(kubeconfig);
  return {
    client,
    connection,
    control: new AzureControl(controlUrl),
    controlUrl,
    line: { kubeconfig, cloudConfig: azure.line.cloudConfig },
    async close() {
      await Promise.all([close(), connection.close()]);
      await Promise.all([kube.close(), azure.close()]);
    },
  };
}

/** The first has a rule and takes connections; the others are pools. */
export async function createGroups(client: KubeClient, loadBalancers: number, groups: number): Promise<void> {
  for (let at = 0; at < loadBalancers; at++) {
    const attributes = { frontend: "internal", ...(at === 0 && { rules: "80:8080" }) };
    const spec = { lbDriver: "lbcf-azure", lbSpec: { name: `bench-${at}` }, attributes };
    await client.create(LOAD_BALANCERS, { metadata: { name: `lb-${at}`, namespace: NAMESPACE }, spec });
  }
  for (let at = 0; at < groups; at++) {
    const pods = { ports: [{ port: 8080 }], byLabel: { selector: { group: String(at) } } };
    const spec = { loadBalancers: [`lb-${at % loadBalancers}`], pods };
    await client.create(BACKEND_GROUPS, { metadata: { name: `group-${at}`, namespace: NAMESPACE }, spec });
  }
}

/** Number `at` of all pods ever made, over the groups in turn. */
export function podAt(at: number, groups: number): BackendPod {
  const ip = `10.${100 + Math.floor(at / 65_536)}.${Math.floor(at / 256) % 256}.${at % 256}`;
  return { name: `pod-${at}`, ip, group: at % groups };
}

export async function forAll<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
}

/** Runs, with its containers ready; whether it is Ready is up to its gate. */
export async function createPod(client: KubeClient, { name, ip, group }: BackendPod): Promise<void> {
  await client.create(PODS, {
    metadata: { name, namespace: NAMESPACE, labels: { group: String(group) } },
    spec: {
      terminationGracePeriodSeconds: GRACE_SECONDS,
      nodeName: NODES[group % NODES.length]?.name,
      containers: [{ name: "web", image: "web" }],
      readinessGates: [{ conditionType: GATE }],
    },
  });
  const status = { phase: "Running", podIP: ip, conditions: [{ type: "ContainersReady", status: "True" }] };
  await client.patch(PODS, { namespace: NAMESPACE, name, subresource: "status" }, { strategic: { status } });
}

export async function isGateOpen(client: KubeClient, { name }: BackendPod): Promise<boolean> {
  return readPod(await client.get<KubeObject>(PODS, { namespace: NAMESPACE, name })).gate === "True";
}

/** Backends that the groups say are registered, once it is that many; how long that took. */
export async function untilRegistered(client: KubeClient, count: number, withinMs: number): Promise<number> {
  const startMs = realClock.monotonicMs();
  for (;;) {
    const { items } = await client.list<KubeObject>(BACKEND_GROUPS, { namespace: NAMESPACE });
    const registered = items.reduce((sum, group) => sum + readBackendGroup(group).status.registeredBackends, 0);
    const tookMs = realClock.monotonicMs() - startMs;
    if (registered === count) return tookMs;
    if (tookMs > withinMs) throw new Error(`${registered} of ${count} backends are registered after ${withinMs} ms`);
    await realClock.sleep(POLL_MS);
  }
}

/** As users do it: it has its grace from now on. */
export async function terminatePod({ client }: BackendCluster, { name }: BackendPod): Promise<void> {
  await client.delete(PODS, { namespace: NAMESPACE, name });
}

/** As its kubelet does it when it has ended. */
export async function removePod({ connection }: BackendCluster, { name }: BackendPod): Promise<void> {
  const body = { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 0 };
  await connection.request("DELETE", `/api/v1/namespaces/${NAMESPACE}/pods/${name}`, { body });
}

/** Where the pods listen, for the data plane; `null`: nowhere any more. */
export async function mapPods(
  cluster: BackendCluster,
  pods: readonly BackendPod[],
  port: number | null,
): Promise<void> {
  const table = Object.fromEntries(pods.map(({ ip }) => [ip, port === null ? null : { "*": port }]));
  const reply = await fetch(`${cluster.controlUrl}/members`, { method: "POST", body: JSON.stringify(table) });
  if (!reply.ok) throw new Error(`/members: ${await reply.text()}`);
}

/** The port of this machine behind which the first load balancer's frontend stands. */
export async function frontendPort({ controlUrl }: BackendCluster): Promise<number> {
  const reply = await fetch(`${controlUrl}/data-plane?port=80`);
  const { frontends } = (await reply.json()) as { frontends: { listener: { port: number } | null }[] };
  const port = frontends[0]?.listener?.port;
  if (port === undefined) throw new Error("the load balancer has no listener");
  return port;
}
