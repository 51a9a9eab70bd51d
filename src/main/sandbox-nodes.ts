/**
 * Node objects for the machines of the emulated Azure, in an API server that is not the sandbox's own. No kubelet stands
 * behind them: the sandbox renews their Leases while it runs, so that a controller manager takes them for alive, and a taint keeps
 * real pods off them. They stay when it ends, and turn NotReady.
 */
import type { ClusterNode } from "../../sandbox/kubernetes/index.ts";
import type { Log } from "../core/util/log.ts";
import type { KubeClient } from "../kube/client/kube-client.ts";
import { isFailure } from "../kube/client/kube-failure.ts";
import { LEASES, NODES } from "../kube/client/resources.ts";
import { microTime } from "../kube/election/lease.ts";

const LEASE_NAMESPACE = "kube-node-lease";
const LEASE_SECONDS = 40;
const RENEW_EVERY_MS = 10_000;
/** Keeps real pods off them. */
export const SANDBOX_TAINT = { key: "azlb.io/sandbox", effect: "NoSchedule" };

/** Creates the Nodes that are missing; existing ones are not changed. */
export async function ensureNodes(
  client: KubeClient,
  nodes: readonly ClusterNode[],
  taints: readonly (typeof SANDBOX_TAINT)[] = [],
): Promise<void> {
  for (const { name, labels, providerID, internalIPs } of nodes) {
    const node = {
      metadata: { name, labels: { ...labels } },
      spec: { ...(providerID !== undefined && { providerID }), ...(taints.length > 0 && { taints }) },
    };
    if (!(await created(client.create(NODES, node)))) continue;
    const addresses = [
      ...internalIPs.map((address) => ({ type: "InternalIP", address })),
      { type: "Hostname", address: name },
    ];
    const status = { addresses, conditions: [{ type: "Ready", status: "True", reason: "Sandbox", message: "" }] };
    await client.patch(NODES, { name, subresource: "status" }, { strategic: { status } });
  }
}

/** Renews the Leases of the Nodes until it is ended. */
export function keepAlive(client: KubeClient, nodes: readonly ClusterNode[], log: Log): () => Promise<void> {
  let renewing = renewAll(client, nodes, log);
  const timer = setInterval(() => {
    renewing = renewing.then(() => renewAll(client, nodes, log));
  }, RENEW_EVERY_MS);
  return () => {
    clearInterval(timer);
    return renewing;
  };
}

/** A Lease that cannot be renewed is tried again with the next ones. */
async function renewAll(client: KubeClient, nodes: readonly ClusterNode[], log: Log): Promise<void> {
  try {
    for (const { name } of nodes) await renew(client, name);
  } catch (error) {
    log.warn("the Leases of the sandbox's Nodes are not renewed", { error: String(error) });
  }
}

async function renew(client: KubeClient, name: string): Promise<void> {
  const renewTime = microTime(Date.now());
  const spec = { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime };
  const metadata = { name, namespace: LEASE_NAMESPACE };
  if (await created(client.create(LEASES, { metadata, spec }))) return;
  await client.patch(LEASES, metadata, { merge: { spec } });
}

async function created(creation: Promise<unknown>): Promise<boolean> {
  try {
    await creation;
    return true;
  } catch (error) {
    if (isFailure(error, "alreadyExists")) return false;
    throw error;
  }
}
