/** Endpoints for a Service of the sandbox, on every node: there are no pods, and without any nothing would be reached. */
import { isFailure } from "../kube/client/kube-failure.ts";
import type { KubeClient } from "../kube/client/kube-client.ts";
import { ENDPOINT_SLICES, NODES } from "../kube/client/resources.ts";

/** An EndpointSlice may hold a thousand; a hundred nodes are enough to look at. */
const MOST_NODES = 100;

export async function ensureEndpoints(
  client: KubeClient,
  namespace: string,
  name: string,
  mostNodes = MOST_NODES,
): Promise<void> {
  const { items } = await client.list(NODES, {});
  const endpoints = items.slice(0, mostNodes).map(({ metadata }, at) => ({
    addresses: [`10.244.0.${at + 1}`],
    conditions: { ready: true },
    nodeName: metadata.name,
  }));
  try {
    await client.create(ENDPOINT_SLICES, {
      metadata: { namespace, name: `${name}-sandbox`, labels: { "kubernetes.io/service-name": name } },
      addressType: "IPv4",
      endpoints,
      ports: [],
    });
  } catch (error) {
    if (!isFailure(error, "alreadyExists")) throw error;
  }
}
