/**
 * Pods by the thousand in an API server without kubelets: this file stands in for the kubelet and the Deployment. Each pod has
 * an address of its own; the data plane maps it to a port of this machine.
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

export const NAMESPACE = "default";
const AT_A_TIME = 32;
const POLL_MS = 250;
/** How long a terminating pod keeps accepting connections. */
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

/** The first load balancer has a rule and accepts connections; the others only have pools. */
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

/** Pod number `at` of all pods ever created; the groups take turns. */
export function podAt(at: number, groups: number): BackendPod {
  const ip = `10.${100 + Math.floor(at / 65_536)}.${Math.floor(at / 256) % 256}.${at % 256}`;
  return { name: `pod-${at}`, ip, group: at % groups };
}

export async function forAll<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
  atATime = AT_A_TIME,
): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const next of left) await work(next);
  };
  await Promise.all(Array.from({ length: atATime }, worker));
}

/** Creates a running pod whose containers are ready; whether it is Ready depends on its gate. */
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

/** Resolves, with the time that it took, once the groups report `count` registered backends. */
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

/** As a user does: the grace period starts. */
export async function terminatePod({ client }: BackendCluster, { name }: BackendPod): Promise<void> {
  await client.delete(PODS, { namespace: NAMESPACE, name });
}

/** As the kubelet does when the pod has ended. */
export async function removePod({ connection }: BackendCluster, { name }: BackendPod): Promise<void> {
  const body = { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 0 };
  await connection.request("DELETE", `/api/v1/namespaces/${NAMESPACE}/pods/${name}`, { body });
}

/** Tells the data plane where the pods listen; `null`: nowhere. */
export async function mapPods(
  cluster: BackendCluster,
  pods: readonly BackendPod[],
  port: number | null,
): Promise<void> {
  const table = Object.fromEntries(pods.map(({ ip }) => [ip, port === null ? null : { "*": port }]));
  const reply = await fetch(`${cluster.controlUrl}/members`, {
    method: "POST",
    body: JSON.stringify(table),
    headers: { "content-type": "application/json" },
  });
  if (!reply.ok) throw new Error(`/members: ${await reply.text()}`);
}

/** The local port of the first load balancer's frontend. */
export async function frontendPort({ controlUrl }: BackendCluster): Promise<number> {
  const reply = await fetch(`${controlUrl}/data-plane?port=80`);
  const { frontends } = (await reply.json()) as { frontends: { listener: { port: number } | null }[] };
  const port = frontends[0]?.listener?.port;
  if (port === undefined) throw new Error("the load balancer has no listener");
  return port;
}
