/**
 * The nodes of each of several load balancers: what `placement` decides, for the pools as they are seen. One that no node
 * belongs to has all of them, as the incumbent has it: the Services that are placed there are served.
 */
import type { Compute } from "../../backends/compute.ts";
import { isEligible } from "../../backends/eligible-nodes.ts";
import { vmSetOf } from "../../backends/machines.ts";
import type { ClusterConfig } from "../../config/cluster-config.ts";
import type { LoadBalancer } from "../../model/arm.ts";
import type { Node } from "../../model/kubernetes.ts";
import { externalName, poolName } from "../../model/names.ts";
import { arrangeNodes } from "../../placement/arrange-nodes.ts";
import { memoAll } from "../../util/memo.ts";

export interface ArrangementInput {
  readonly config: ClusterConfig;
  readonly nodes: readonly Node[];
  readonly loadBalancers: readonly LoadBalancer[];
  readonly compute?: Compute;
}

const NO_COMPUTE: Partial<Compute> = {};
const NO_NODES: readonly Node[] = [];

/** All nodes where there is one load balancer. */
export function nodesOf({ config, nodes, loadBalancers, compute }: ArrangementInput, name: string): readonly Node[] {
  if (config.loadBalancers.length === 0) return nodes;
  const arranged = arrangement(config, nodes, loadBalancers, compute ?? NO_COMPUTE);
  return arranged.get(externalName(name).toLowerCase()) ?? NO_NODES;
}

/** By external name in lower case. */
const arrangement = memoAll(
  (
    config: ClusterConfig,
    nodes: readonly Node[],
    loadBalancers: readonly LoadBalancer[],
    compute: Compute | Partial<Compute>,
  ): ReadonlyMap<string, readonly Node[]> => {
    const there = loadBalancers.filter(({ properties }) => properties.provisioningState !== "Deleting");
    const names = new Set(there.map(({ name }) => externalName(name).toLowerCase()));
    const existing = config.loadBalancers.filter(({ name }) => names.has(name.toLowerCase()));
    const eligible = nodes.filter((node) => isEligible(node, config));
    const holders = homesByNode(holdersByNode(config, there), eligible.length);
    const places = arrangeNodes(
      existing,
      eligible.map((node) => ({
        name: node.metadata.name,
        labels: node.metadata.labels ?? {},
        vmSet: vmSetOf(node, isWhole(compute) ? compute : undefined),
        isOn: holders.get(node.metadata.name.toLowerCase()) ?? new Set(),
      })),
    );
    const own = Map.groupBy(
      eligible.filter(({ metadata }) => places.has(metadata.name)),
      ({ metadata }) => places.get(metadata.name) ?? "",
    );
    return new Map([...names].map((name) => [name, own.get(name) ?? eligible]));
  },
);

function isWhole(compute: Compute | Partial<Compute>): compute is Compute {
  return compute !== NO_COMPUTE;
}

/** One that has all nodes, because none belongs to it, is not where a node belongs that is on another as well. */
function homesByNode(holders: ReadonlyMap<string, ReadonlySet<string>>, nodes: number): typeof holders {
  const held = new Map<string, number>();
  for (const names of holders.values()) for (const name of names) held.set(name, (held.get(name) ?? 0) + 1);
  return new Map(
    [...holders].map(([node, names]) => {
      const homes = [...names].filter((name) => (held.get(name) ?? 0) < nodes);
      return [node, names.size > 1 && homes.length > 0 ? new Set(homes) : names];
    }),
  );
}

/** By name of a pool entry in lower case: the load balancers whose cluster pools hold it. */
function holdersByNode(
  { clusterName }: ClusterConfig,
  loadBalancers: readonly LoadBalancer[],
): Map<string, Set<string>> {
  const clusterPools = new Set(
    [poolName(clusterName, "IPv4"), poolName(clusterName, "IPv6")].map((name) => name.toLowerCase()),
  );
  const holders = new Map<string, Set<string>>();
  for (const { name, properties } of loadBalancers) {
    const pools = (properties.backendAddressPools ?? []).filter((pool) => clusterPools.has(pool.name.toLowerCase()));
    for (const entry of pools.flatMap((pool) => pool.properties.loadBalancerBackendAddresses ?? [])) {
      const key = entry.name.toLowerCase();
      holders.set(key, (holders.get(key) ?? new Set()).add(externalName(name).toLowerCase()));
    }
  }
  return holders;
}
