/**
 * What other Services still serve at an address, by their rules on its frontend: it stays open for them. What a Service asks
 * for does not tell what it has while its change is refused; it closes that itself, once the change is carried out.
 */
import type { Owner } from "../../outcome.ts";
import { ownerOf } from "../../intent/ownership.ts";
import type { Service } from "../../model/kubernetes.ts";
import { familyOf } from "../../util/cidr.ts";
import { type Claim, loadBalancerIndex } from "../load-balancer/load-balancer-index.ts";
import { servicesByBase } from "../load-balancer/part-user.ts";
import type { ObservedAzure } from "../observed-azure.ts";
import type { PoolsInput } from "../managed-pools.ts";
import type { AccessRule, Opening } from "./fragment.ts";
import { accessRuleOf, securityGroupIndex } from "./security-rules.ts";
import { publicIPsAt, type Sharing } from "./shared-addresses.ts";

interface ServedInput extends Sharing, Pick<ObservedAzure, "securityGroup">, Pick<PoolsInput, "loadBalancers"> {}

/** Of their rules in the security group those whose ports one of them serves at the address, all of them. */
export function servedByOthers(input: ServedInput, owner: Owner, addresses: Iterable<string>): readonly Opening[] {
  const { securityGroup } = input;
  if (securityGroup === undefined) return [];
  const { holders, managed } = securityGroupIndex(securityGroup);
  return [...addresses].flatMap((address) => {
    const family = familyOf(address);
    const standing = (holders.get(address) ?? []).flatMap((name) => managed.get(name)?.rule ?? []);
    if (family === undefined || standing.length === 0) return [];
    const rules = standing.map((rule) => accessRuleOf(rule, family, [address]));
    return [...otherClaimsAt(input, owner, address)].flatMap(([service, claims]): Opening[] => {
      const served = rules.filter((rule) => isServed(rule, claims));
      return served.length === 0 ? [] : [{ owner: ownerOf(service), rules: served, ownRules: false }];
    });
  });
}

function otherClaimsAt(input: ServedInput, owner: Owner, address: string): ReadonlyMap<Service, readonly Claim[]> {
  const services = servicesByBase(input.otherServices);
  const ids = publicIPsAt(input, new Set([address])).map(([, { id }]) => id.toLowerCase());
  const found = new Map<Service, Claim[]>();
  for (const loadBalancer of input.loadBalancers) {
    const { byPrivateAddress, byPublicIP, claims } = loadBalancerIndex(loadBalancer);
    const frontends = [byPrivateAddress.get(address), ...ids.map((id) => byPublicIP.get(id))];
    for (const claim of frontends.flatMap((one) => claims.get(one?.name.toLowerCase() ?? "") ?? [])) {
      const service = claim.user.base === owner.base.toLowerCase() ? undefined : services.get(claim.user.base);
      if (service === undefined || service.metadata.deletionTimestamp !== undefined) continue;
      found.set(service, [...(found.get(service) ?? []), claim]);
    }
  }
  return found;
}

/** A rule of all ports is not one Service's. */
function isServed({ ports, protocol }: AccessRule, claims: readonly Claim[]): boolean {
  const isClaimed = (port: number): boolean =>
    claims.some(
      ({ from, to, protocol: served }) =>
        from <= port &&
        port <= to &&
        (protocol === "*" || served.toLowerCase() === protocol.toLowerCase() || served.toLowerCase() === "all"),
    );
  return ports.length > 0 && ports.every(isClaimed);
}
