/** Takes the picture that the views of the core read: from the caches, the mirror and the states, without a call. */
import type { Mirror } from "../azure/cache/mirror.ts";
import { nodeFinder } from "../core/admin-state/reconcile-admin-state.ts";
import { ipConfigurationFinder } from "../core/backends/machines.ts";
import type { ClusterConfig } from "../core/config/cluster-config.ts";
import { needsCleanup, wantsLoadBalancer, type ClassFilter } from "../core/intent/ownership.ts";
import { sameId, securityGroupId } from "../core/model/ids.ts";
import type { Picture } from "../core/view/picture.ts";
import type { ClusterCache } from "./cluster-cache.ts";
import type { ServiceStates } from "./service-states.ts";

export interface PictureSource {
  readonly config: ClusterConfig;
  readonly classFilter: ClassFilter;
  readonly cache: ClusterCache;
  readonly mirror: Mirror;
  readonly states: ServiceStates;
  readonly unready: string | undefined;
  readonly notices: readonly string[];
}

export function pictureOf({ config, classFilter, cache, mirror, states, unready, notices }: PictureSource): Picture {
  const nodes = cache.nodes.store.snapshot;
  const compute = config.poolType === "nodeIPConfiguration" ? mirror.shownCompute : undefined;
  const { seenEndpoints: endpointSlices } = cache;
  return {
    config,
    classFilter,
    services: cache.services.store.snapshot.filter(
      (service) => wantsLoadBalancer(service, classFilter) || needsCleanup(service, classFilter),
    ),
    findAny: (key) => cache.services.store.get(key),
    nodes,
    loadBalancers: mirror.shown("loadBalancer"),
    publicIPs: mirror.shown("publicIP"),
    securityGroup: mirror.shown("securityGroup").find(({ id }) => sameId(id, securityGroupId(config))),
    ...(endpointSlices && { endpointSlices }),
    standings: states.standings(),
    nodeOf: nodeFinder(nodes, compute && ipConfigurationFinder(nodes, compute)),
    unready,
    notices,
  };
}
