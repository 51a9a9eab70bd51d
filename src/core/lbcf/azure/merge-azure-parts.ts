/**
 * Merges the fragments of LBCF's LoadBalancers into the Azure load balancer that they name. In addition to the rules for
 * Services (`merge-load-balancer.ts`):
 *
 *   - A load balancer that the controller creates gets a tag, so that after any crash it is known as one to delete. It
 *     is deleted, like the cluster's own, when only empty pools and the cluster's pools are left. Others never are.
 *   - A pool that the controller created is removed with its LoadBalancer, unless entries or rules of others remain.
 */
import type { BackendPool, LoadBalancer, Reference } from "../../model/arm.ts";
import { nameOfId } from "../../model/ids.ts";
import type { Disposable, LoadBalancerFragment } from "../../resources/load-balancer/fragment.ts";
import { mergeLoadBalancer } from "../../resources/load-balancer/merge-load-balancer.ts";
import type { Merged } from "../../outcome.ts";

export interface AzurePartsFragment {
  readonly parts: LoadBalancerFragment;
  /** The pools of the cluster's Services, and which of their entries are the cluster's. */
  readonly cluster: Disposable;
  /** The load balancer is one that the cluster manages for its Services. */
  readonly isClusters: boolean;
  /** The pool to remove with the LoadBalancer; absent while the LoadBalancer exists. */
  readonly leftPool: { readonly name: string; readonly isOwn: boolean } | undefined;
}

const MADE_BY_TAG = "azlb-lbcf";

export function mergeAzureParts(
  seen: LoadBalancer | undefined,
  fragments: readonly AzurePartsFragment[],
): Merged<LoadBalancer> {
  const isOurs = seen?.tags?.[MADE_BY_TAG] !== undefined;
  const left = fragments.flatMap(({ leftPool }) => (leftPool && (leftPool.isOwn || isOurs) ? [leftPool.name] : []));
  const base = seen && withoutPools(seen, left, fragments);
  const parts = fragments.map((fragment) => withDisposal(fragment, base, isOurs));
  const { outcome: merged, answers } = mergeLoadBalancer(base, parts);
  const outcome = withoutLastFrontend(merged, fragments);
  if (outcome.kind === "put" && seen === undefined) {
    const tags = { ...outcome.body.tags, [MADE_BY_TAG]: fragments[0]?.parts.owner.key ?? "" };
    return { outcome: { kind: "put", body: { ...outcome.body, tags } }, answers };
  }
  if (outcome.kind === "unchanged" && base !== undefined && base !== seen) {
    return { outcome: { kind: "put", body: base }, answers };
  }
  return { outcome, answers };
}

/** Adds the pools that may be removed together with the last frontend. */
function withDisposal(
  { parts, cluster, isClusters }: AzurePartsFragment,
  seen: LoadBalancer | undefined,
  isOurs: boolean,
): LoadBalancerFragment {
  if (!isOurs && !isClusters) return parts;
  const empty = (seen?.properties.backendAddressPools ?? []).filter((pool) => isEmpty(pool)).map(({ name }) => name);
  return { ...parts, disposable: { pools: [...empty, ...cluster.pools], entries: cluster.entries } };
}

/** Azure requires a frontend while anything else remains; when nothing does, the last one is removed too. */
function withoutLastFrontend(
  outcome: Merged<LoadBalancer>["outcome"],
  fragments: readonly AzurePartsFragment[],
): Merged<LoadBalancer>["outcome"] {
  if (outcome.kind !== "put") return outcome;
  const { frontendIPConfigurations = [], ...others } = outcome.body.properties;
  const leaving = fragments.filter(({ leftPool }) => leftPool !== undefined).map(({ parts }) => parts.owner.base);
  const isOnlyOurs = frontendIPConfigurations.every(({ name }) => leaving.some((base) => name.startsWith(`${base}-`)));
  const isBare = Object.values(others).every((value) => !Array.isArray(value) || value.length === 0);
  if (leaving.length === 0 || !isOnlyOurs || !isBare) return outcome;
  return { kind: "put", body: { ...outcome.body, properties: { ...others, frontendIPConfigurations: [] } } };
}

/** Rules of the leaving fragments are removed anyway; pools that other rules refer to stay. */
function withoutPools(
  seen: LoadBalancer,
  left: readonly string[],
  fragments: readonly AzurePartsFragment[],
): LoadBalancer {
  const names = new Set(left.map((name) => name.toLowerCase()));
  const pools = seen.properties.backendAddressPools ?? [];
  const used = poolsInUse(seen, new Set(fragments.map(({ parts }) => parts.owner.base.toLowerCase())));
  const kept = pools.filter((pool) => {
    const name = pool.name.toLowerCase();
    return !names.has(name) || used.has(name) || !isEmpty(pool);
  });
  if (kept.length === pools.length) return seen;
  const gone = new Set(pools.filter((pool) => !kept.includes(pool)).map(({ name }) => name.toLowerCase()));
  const rules = (seen.properties.loadBalancingRules ?? []).filter(
    ({ properties }) => !gone.has(poolOf(properties.backendAddressPool) ?? ""),
  );
  return { ...seen, properties: { ...seen.properties, backendAddressPools: kept, loadBalancingRules: rules } };
}

function isEmpty({ properties }: BackendPool): boolean {
  const { loadBalancerBackendAddresses = [], backendIPConfigurations = [] } = properties;
  return loadBalancerBackendAddresses.length + backendIPConfigurations.length === 0;
}

/** Pools, in lower case, that rules of other owners refer to. */
function poolsInUse({ properties }: LoadBalancer, leaving: ReadonlySet<string>): ReadonlySet<string> {
  const { loadBalancingRules = [], outboundRules = [], inboundNatRules = [] } = properties;
  const foreign = loadBalancingRules.filter(({ name }) => !leaving.has(name.split("-")[0]?.toLowerCase() ?? ""));
  const references = [...foreign, ...outboundRules, ...inboundNatRules].flatMap((rule) => {
    const { backendAddressPool, backendAddressPools } = rule.properties as {
      backendAddressPool?: Reference;
      backendAddressPools?: readonly Reference[];
    };
    return [backendAddressPool, ...(backendAddressPools ?? [])];
  });
  return new Set(references.map((reference) => poolOf(reference) ?? ""));
}

function poolOf(reference: Reference | undefined): string | undefined {
  return reference === undefined ? undefined : nameOfId(reference.id).toLowerCase();
}
