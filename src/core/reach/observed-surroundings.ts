/** The surroundings of a packet's way, from a look at the cluster and its Azure. */
import { nodeFinder } from "../admin-state/reconcile-admin-state.ts";
import { ipConfigurationFinder } from "../backends/machines.ts";
import type { Observed } from "../observed.ts";
import { listedOf } from "../resources/observed-azure.ts";
import { type Cidr, parseCidr } from "../util/cidr.ts";
import type { Surroundings } from "./load-balancer-path.ts";

export function surroundingsOf(observed: Observed): Surroundings {
  const { loadBalancers, securityGroup, nodes, compute } = observed;
  return {
    loadBalancers,
    publicIPs: [...listedOf(observed, "publicIP").values()].flat(),
    securityGroup,
    nodeOf: nodeFinder(nodes, compute && ipConfigurationFinder(nodes, compute)),
    network: networkOf(observed),
  };
}

/** The blocks of the subnets that were looked at. */
function networkOf({ subnets }: Observed): Cidr[] {
  const prefixes = [...subnets.values()].flatMap((subnet) => [
    ...(subnet?.properties.addressPrefixes ?? []),
    ...(subnet?.properties.addressPrefix === undefined ? [] : [subnet.properties.addressPrefix]),
  ]);
  return prefixes.map(parseCidr).flatMap((block) => ("problem" in block ? [] : [block]));
}
