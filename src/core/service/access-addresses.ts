/** The addresses of a placed Service as its security rules need them: where packets arrive, and what is to be closed. */
import type { Family } from "../model/arm.ts";
import { addressesOfMembers, isOwnEntry } from "../resources/backend-pool/desired-backend-pool.ts";
import type { ServiceAddresses } from "../resources/security-group/fragment.ts";
import { canonicalAddress } from "../util/cidr.ts";
import { addressOf, membershipOf, type ResolvedService } from "./resolve-service.ts";
import { addressesOn, formerAddresses, frontendsOf } from "./service-parts.ts";

/**
 * The addresses as the security group needs them. An address that the Service leaves is closed at once if nothing
 * stands there any more; `all` closes those too that still serve while the new side is being built.
 */
export function accessAddresses(resolved: ResolvedService, released: "dead" | "all"): ServiceAddresses {
  const current = perFamily(resolved, (family) => [addressOf(resolved, family) ?? []].flat());
  const nodes = perFamily(resolved, (family) => addressesOfMembers(membershipOf(resolved, family)));
  const kept = new Set(
    [...current.IPv4, ...current.IPv6, ...resolved.intent.additionalPublicIPs].map(canonicalAddress),
  );
  const serving = servingAddresses(resolved);
  const gone = [...formerAddresses(resolved.observed), ...formerNodes(resolved)];
  const left = released === "all" ? [...gone, ...serving] : gone.filter((address) => !serving.includes(address));
  return { current, nodes, released: [...new Set(left)].filter((address) => !kept.has(address)) };
}

/** Stand for addresses that Azure has not given yet. */
const UNKNOWN: Readonly<Record<Family, string>> = { IPv4: "192.0.2.1", IPv6: "2001:db8::1" };

/** The addresses as they are going to be, as far as it matters for the room that they take. */
export function foreseenAddresses(resolved: ResolvedService): ServiceAddresses {
  const { nodes, released } = accessAddresses(resolved, "dead");
  const current = perFamily(resolved, (family) => [
    addressOf(resolved, family) ?? resolved.intent.pinned[family] ?? UNKNOWN[family],
  ]);
  return { current, nodes, released };
}

function perFamily(
  { intent: { families } }: ResolvedService,
  list: (family: Family) => readonly string[],
): Record<Family, readonly string[]> {
  return {
    IPv4: families.includes("IPv4") ? list("IPv4") : [],
    IPv6: families.includes("IPv6") ? list("IPv6") : [],
  };
}

/** Where the Service can still be reached, whether it stays there or not. */
function servingAddresses({ observed, intent, placement, publicIPs }: ResolvedService): string[] {
  const present = placement.seen === undefined ? placement.flippedFrom : [placement.seen, ...placement.flippedFrom];
  const frontends = present.flatMap((seen) => frontendsOf(seen, intent.owner.base));
  const publics = publicIPs.releases.flatMap(({ seen }) => seen.properties.ipAddress ?? []);
  return [...addressesOn(observed, frontends), ...publics.map(canonicalAddress)];
}

/** Nodes that are about to leave the pools: where traffic is sent to nodes themselves, they must be closed too. */
function formerNodes(resolved: ResolvedService): string[] {
  const { intent, placement } = resolved;
  if (intent.floatingIP && !(intent.scope === "internal" && intent.families.includes("IPv6"))) return [];
  const memberships = [membershipOf(resolved, "IPv4"), membershipOf(resolved, "IPv6")];
  const current = new Set(memberships.flatMap(addressesOfMembers).map(canonicalAddress));
  const pools = placement.seen?.properties.backendAddressPools ?? [];
  return pools
    .flatMap(({ properties }) => properties.loadBalancerBackendAddresses ?? [])
    .filter((entry) => memberships.some(({ own }) => isOwnEntry(entry, own)))
    .map(({ properties }) => canonicalAddress(properties.ipAddress ?? ""))
    .filter((address) => address !== "" && !current.has(address));
}
