/**
 * Which differences take something away that traffic may depend on: a resource, an address, a frontend, a rule, a pool or
 * its member, an access. Fields that merely change, tags, probes and the spelling of a list are no losses.
 */
import type { Difference } from "./plan-diff.ts";

/** Parts that are lost when they go whole. */
const SERVING_PART =
  /(?:frontendIPConfigurations|loadBalancingRules|backendAddressPools|loadBalancerBackendAddresses|loadBalancerBackendAddressPools|securityRules|status\.loadBalancer\.ingress)\[[^\]]*\]$/;

/** Fields of a frontend or rule that decide at which address it is. */
const ADDRESS =
  /(?:frontendIPConfigurations\[[^\]]*\]\.properties\.(?:publicIPAddress\.id|privateIPAddress|subnet\.id)|loadBalancingRules\[[^\]]*\]\.properties\.frontendIPConfiguration\.id)$/;

/** Fields of a security rule, each in the singular or as a list: `…[rule].properties.destinationAddressPrefixes[10.0.0.4]`. */
const ACCESS =
  /^(.*securityRules\[[^\]]*\])\.properties\.(sourceAddressPrefix|destinationAddressPrefix|destinationPortRange)(?:e?s)?(?:\[[^\]]*\])?$/;

const EVERYTHING = "*";

/** Empty where nothing is lost. */
export function losses(changes: readonly Difference[]): Difference[] {
  const kept = keptAccess(changes);
  return changes.filter((change) => isLoss(change, kept));
}

function isLoss(change: Difference, kept: ReadonlyMap<string, ReadonlySet<unknown>>): boolean {
  if (!("before" in change)) return false;
  if (ADDRESS.test(change.path)) return true;
  const field = accessField(change.path);
  if (field !== undefined) {
    const values = kept.get(field);
    return !values?.has(change.before) && !values?.has(EVERYTHING);
  }
  return !("after" in change) && SERVING_PART.test(change.path);
}

/** What each field of a security rule gains, by the field: what moves from one spelling to the other is not lost. */
function keptAccess(changes: readonly Difference[]): Map<string, Set<unknown>> {
  const kept = new Map<string, Set<unknown>>();
  for (const change of changes) {
    const field = accessField(change.path);
    if (field === undefined || !("after" in change)) continue;
    const values = kept.get(field) ?? new Set();
    kept.set(field, values.add(change.after));
  }
  return kept;
}

function accessField(path: string): string | undefined {
  const match = ACCESS.exec(path);
  return match === null ? undefined : `${match[1]}.${match[2]}`;
}
