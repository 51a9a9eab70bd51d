/** Reads what `azlb reach` needs of a cluster and its Azure, and asks the core. */
import { projectEndpointSlice } from "../controller/projections.ts";
import { type EndpointSlice, serviceKey } from "../core/model/kubernetes.ts";
import { surroundingsOf } from "../core/reach/observed-surroundings.ts";
import { type Reach, reachService, type ReachQuery } from "../core/reach/reach-service.ts";
import { formatAddress } from "../core/util/cidr.ts";
import { isFailure } from "../kube/client/kube-failure.ts";
import { ENDPOINT_SLICES, type KubeObject } from "../kube/client/resources.ts";
import type { ClusterView } from "./cluster-view.ts";
import { NoSuchService } from "./no-such-service.ts";

export async function readReach(
  view: ClusterView,
  key: string,
  query: Omit<ReachQuery, "endpoints">,
): Promise<Reach[]> {
  const service = view.services.find((one) => serviceKey(one) === key);
  if (service === undefined) throw new NoSuchService(key, view.find(key));
  const { namespace = "default", name } = service.metadata;
  const [observed, endpoints] = await Promise.all([view.observe(service), endpointsOf(view, namespace, name)]);
  const reaches = reachService(surroundingsOf(observed), service, { ...query, endpoints });
  const tried: Reach[] = [];
  for (const reach of reaches) {
    const connection = await view.connection(reach, formatAddress(query.from));
    tried.push({ ...reach, ...(connection && { connection }) });
  }
  return tried;
}

/** A text where the caller may not list them: the rest of the answer needs none. */
export async function endpointsOf(
  { client }: Pick<ClusterView, "client">,
  namespace: string,
  name: string,
): Promise<EndpointSlice[] | string> {
  try {
    const labelSelector = `kubernetes.io/service-name=${name}`;
    const { items } = await client.list<KubeObject>(ENDPOINT_SLICES, { namespace, labelSelector });
    return items.map(projectEndpointSlice);
  } catch (error) {
    if (isFailure(error, "forbidden")) return "no right to list EndpointSlices in its namespace";
    throw error;
  }
}
