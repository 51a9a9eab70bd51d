/** Creates Node objects for the machines of the emulated Azure, in an API server without kubelets. */
import type { ClusterNode } from "../../sandbox/kubernetes/index.ts";
import type { KubeClient } from "../kube/client/kube-client.ts";
import { isFailure } from "../kube/client/kube-failure.ts";
import { NODES } from "../kube/client/resources.ts";

/** Creates the Nodes that are missing; existing ones are not changed. */
export async function ensureNodes(client: KubeClient, nodes: readonly ClusterNode[]): Promise<void> {
  for (const { name, labels, providerID, internalIPs } of nodes) {
    const node = {
      metadata: { name, labels: { ...labels } },
      spec: { ...(providerID !== undefined && { providerID }) },
    };
    try {
      await client.create(NODES, node);
    } catch (error) {
      if (isFailure(error, "alreadyExists")) continue;
      throw error;
    }
    const addresses = [
      ...internalIPs.map((address) => ({ type: "InternalIP", address })),
      { type: "Hostname", address: name },
    ];
    const status = { addresses, conditions: [{ type: "Ready", status: "True", reason: "Sandbox", message: "" }] };
    await client.patch(NODES, { name, subresource: "status" }, { strategic: { status } });
  }
}
