/** Backend pools of addresses, as the table of resource kinds has them. */
import { refreshAdminStates } from "../../admin-state/reconcile-admin-state.ts";
import type { BackendPool } from "../../model/arm.ts";
import { parentId, parseId, sameId } from "../../model/ids.ts";
import { omitting } from "../request-body.ts";
import { type ResourceKind, rightsOn, USUAL_WINDOW_SHARE } from "../resource-kind.ts";
import type { BackendPoolFragment } from "./fragment.ts";
import { withoutPool } from "../nic-pools/predict-pool-members.ts";
import { holdsInterfaces, mergeBackendPool } from "./merge-backend-pool.ts";
import { BACKEND_POOL_OMITS } from "./omitted-fields.ts";

const TYPE = "Microsoft.Network/loadBalancers/backendAddressPools";

export const backendPoolKind: ResourceKind<BackendPoolFragment, BackendPool, "own"> = {
  noun: "pool",
  metricLabel: "membership",
  types: [{ type: TYPE, noun: "pool", read: "part" }],
  rights: [
    ...rightsOn(TYPE, "read", "write"),
    "Microsoft.Network/virtualNetworks/joinLoadBalancer/action",
    "Microsoft.Network/loadBalancers/migrateToIpBased/action",
  ],
  ownerOf: undefined,
  batchWindowShare: USUAL_WINDOW_SHARE,
  merge: mergeBackendPool,
  requestBody: omitting(BACKEND_POOL_OMITS),
  refresh: refreshAdminStates,
  observed: "own",
  find: ({ loadBalancers }, id) => {
    const whole = loadBalancers.find((one) => sameId(one.id, parentId(id)));
    return whole?.properties.backendAddressPools?.find((pool) => isNamed(pool, id));
  },
  replace: (azure, id, body) => {
    if (body === undefined) return azure;
    const loadBalancers = azure.loadBalancers.map((seen) => {
      if (!sameId(seen.id, parentId(id))) return seen;
      const pools = seen.properties.backendAddressPools ?? [];
      const backendAddressPools = pools.map((pool) => (isNamed(pool, id) ? body : pool));
      return { ...seen, properties: { ...seen.properties, backendAddressPools } };
    });
    const isLeft = azure.compute !== undefined && !holdsInterfaces(body);
    return { ...azure, loadBalancers, ...(isLeft && { compute: withoutPool(azure.compute, id) }) };
  },
  publicIPsAfter: undefined,
};

function isNamed({ name }: BackendPool, id: string): boolean {
  return name.toLowerCase() === parseId(id)?.name.toLowerCase();
}
