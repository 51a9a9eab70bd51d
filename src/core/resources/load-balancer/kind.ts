/** Load balancers, as the table of resource kinds has them. */
import { heldPublicIPs } from "../../freshness.ts";
import type { LoadBalancer } from "../../model/arm.ts";
import { sameId } from "../../model/ids.ts";
import { ownerOfFragment } from "../../outcome.ts";
import { listedOf, replaceById } from "../observed-azure.ts";
import { omitting } from "../request-body.ts";
import { type ResourceKind, rightsOn, USUAL_WINDOW_SHARE } from "../resource-kind.ts";
import type { LoadBalancerFragment } from "./fragment.ts";
import { mergeLoadBalancer } from "./merge-load-balancer.ts";
import { LOAD_BALANCER_OMITS } from "./omitted-fields.ts";
import { predictLoadBalancer } from "./predict-load-balancer.ts";

const TYPE = "Microsoft.Network/loadBalancers";

export const loadBalancerKind: ResourceKind<LoadBalancerFragment, LoadBalancer, "own"> = {
  noun: "load balancer",
  metricLabel: "loadBalancer",
  types: [{ type: TYPE, noun: "load balancer", read: "list" }],
  rights: [
    ...rightsOn(TYPE, "read", "write", "delete"),
    "Microsoft.Network/publicIPAddresses/join/action",
    "Microsoft.Network/virtualNetworks/subnets/join/action",
  ],
  ownerOf: ownerOfFragment,
  batchWindowShare: USUAL_WINDOW_SHARE,
  merge: mergeLoadBalancer,
  requestBody: omitting(LOAD_BALANCER_OMITS),
  refresh: undefined,
  observed: "own",
  find: ({ loadBalancers }, id) => loadBalancers.find((one) => sameId(one.id, id)),
  replace: (azure, id, body) => {
    const after = body && predictLoadBalancer(body, azure);
    const held = heldPublicIPs(id, after);
    const publicIP = new Map([...listedOf(azure, "publicIP")].map(([group, list]) => [group, list.map(held)]));
    const listed = { ...azure.listed, publicIP };
    return { ...azure, loadBalancers: replaceById(azure.loadBalancers, id, after), listed };
  },
  publicIPsAfter: heldPublicIPs,
};
