/** Whether a load balancer that has lost all our frontends still holds foreign parts. */
import type { BackendPool, LoadBalancer } from "../../model/arm.ts";
import { isOwnEntry, isOwnReference } from "../backend-pool/own-entries.ts";
import { baseOf, SHARED_PROBE_NAME } from "../../model/names.ts";
import type { Disposable, LoadBalancerFragment } from "./fragment.ts";

/** `leaving`: the fragments that left; their own rules and probes don't count, nor does the probe that all share. */
export function hasForeignRest(body: LoadBalancer, leaving: readonly LoadBalancerFragment[]): boolean {
  const { loadBalancingRules, probes, inboundNatRules, inboundNatPools, outboundRules } = body.properties;
  const disposable = leaving[0]?.disposable;
  if (disposable === undefined) return true;
  const bases = new Set(leaving.map(({ owner }) => owner.base.toLowerCase()));
  const foreign = [inboundNatRules, inboundNatPools, outboundRules, loadBalancingRules, probes]
    .flatMap((list) => list ?? [])
    .filter(({ name }) => !bases.has(baseOf(name)) && name.toLowerCase() !== SHARED_PROBE_NAME);
  return foreign.length > 0 || (body.properties.backendAddressPools ?? []).some((pool) => isForeign(pool, disposable));
}

function isForeign(pool: BackendPool, { pools, entries }: Disposable): boolean {
  if (!pools.some((name) => name.toLowerCase() === pool.name.toLowerCase())) return true;
  const { loadBalancerBackendAddresses, backendIPConfigurations } = pool.properties;
  return (
    (loadBalancerBackendAddresses ?? []).some((entry) => !isOwnEntry(entry, entries)) ||
    (backendIPConfigurations ?? []).some((reference) => !isOwnReference(reference, entries))
  );
}
