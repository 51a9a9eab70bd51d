/** Nodes as load balancers see them: whether they get new connections, where, why not, and until when a drain has time. */
import { accountOf } from "../admin-state/drain-account.ts";
import { adminStateOf, drainReasons } from "../admin-state/reconcile-admin-state.ts";
import { isEligible } from "../backends/eligible-nodes.ts";
import type { ClusterConfig } from "../config/cluster-config.ts";
import type { Node } from "../model/kubernetes.ts";
import { isServiceBase } from "../model/names.ts";
import { loadBalancerIndex, poolNamesOf } from "../resources/load-balancer/load-balancer-index.ts";
import { memo } from "../util/memo.ts";
import type { Picture } from "./picture.ts";
import { timeOf } from "./service-list.ts";

interface NodeLine {
  readonly name: string;
  readonly addresses: readonly string[];
  readonly state: "serves" | "draining" | "excluded" | "in no pool";
  /** Why it is held Down. */
  readonly drain: readonly string[];
  /** When the machine goes, where that was announced. */
  readonly due?: string;
  readonly pools: readonly { readonly loadBalancer: string; readonly pool: string; readonly adminState: string }[];
  /** How many Services have rules that send to a pool that it is in. */
  readonly services: number;
}

export interface NodePage {
  readonly total: number;
  readonly draining: number;
  readonly offset: number;
  readonly items: readonly NodeLine[];
}

interface Place {
  readonly loadBalancer: string;
  readonly pool: string;
  readonly adminState: string;
  readonly services: number;
}

export function listNodes(
  picture: Picture,
  {
    search = "",
    offset,
    limit,
  }: { readonly search?: string | undefined; readonly offset: number; readonly limit: number },
): NodePage {
  const places = placesByNode(picture);
  const found = picture.nodes
    .filter(({ metadata }) => metadata.name.includes(search.toLowerCase()))
    .map((node) => ({ node, isDraining: drainReasons(node).length > 0 }))
    .sort(
      (one, other) =>
        Number(other.isDraining) - Number(one.isDraining) ||
        one.node.metadata.name.localeCompare(other.node.metadata.name),
    );
  return {
    total: found.length,
    draining: found.filter(({ isDraining }) => isDraining).length,
    offset,
    items: found
      .slice(offset, offset + limit)
      .map(({ node }) => nodeLine(picture, node, places.get(node.metadata.name) ?? [])),
  };
}

function nodeLine({ config }: Picture, node: Node, places: readonly Place[]): NodeLine {
  const drain = drainReasons(node);
  const due = accountOf(node)?.notice?.dueMs;
  return {
    name: node.metadata.name,
    addresses: internalAddresses(node),
    state: nodeStateOf(node, config, places.length > 0),
    drain,
    ...(due !== undefined && { due: timeOf(due) }),
    pools: places.map(({ loadBalancer, pool, adminState }) => ({ loadBalancer, pool, adminState })),
    services: places.reduce((sum, { services }) => sum + services, 0),
  };
}

export function internalAddresses({ status }: Node): string[] {
  return (status.addresses ?? []).filter(({ type }) => type === "InternalIP").map(({ address }) => address);
}

export function nodeStateOf(node: Node, config: ClusterConfig, isInPool: boolean): NodeLine["state"] {
  if (!isEligible(node, config)) return "excluded";
  if (drainReasons(node).length > 0) return "draining";
  return isInPool ? "serves" : "in no pool";
}

/** One pass over all pools, remembered for as long as nothing has changed: a page of nodes then costs what it shows. */
const placesByNode = memo((picture: Picture): ReadonlyMap<string, readonly Place[]> => {
  const places = new Map<string, Place[]>();
  for (const loadBalancer of picture.loadBalancers) {
    const { pools, rules } = loadBalancerIndex(loadBalancer);
    const bases = new Map<string, Set<string>>();
    for (const rule of rules.values()) {
      const base = rule.name.split("-")[0]?.toLowerCase() ?? "";
      if (!isServiceBase(base)) continue;
      for (const pool of poolNamesOf(rule)) bases.set(pool, (bases.get(pool) ?? new Set()).add(base));
    }
    for (const [name, pool] of pools) {
      const services = bases.get(name)?.size ?? 0;
      for (const entry of pool.properties.loadBalancerBackendAddresses ?? []) {
        const node = picture.nodeOf(entry)?.metadata.name;
        if (node === undefined) continue;
        const place = { loadBalancer: loadBalancer.name, pool: pool.name, adminState: adminStateOf(entry), services };
        places.set(node, [...(places.get(node) ?? []), place]);
      }
    }
  }
  return places;
});
