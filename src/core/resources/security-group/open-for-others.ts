/**
 * What stands open for other Services, whatever they ask for: what a Service asks for does not tell what it has while Azure
 * refuses its change. It stays open for them; each closes it itself, once its change is carried out.
 *
 *   where                  | whose a rule of the security group is
 *   -----------------------|-----------------------------------------------------------------------
 *   anywhere               | the Service's whose own name it has; a denial of all ports at the nodes only, since it is
 *                          | narrowed where another Service comes to an address
 *   at a frontend's address | each Service's whose load balancing rules there serve all ports of it
 */
import type { Owner } from "../../outcome.ts";
import { ownerOf } from "../../intent/ownership.ts";
import type { Service } from "../../model/kubernetes.ts";
import { familyOf } from "../../util/cidr.ts";
import { type Claim, loadBalancerIndex } from "../load-balancer/load-balancer-index.ts";
import { servicesByBase } from "../load-balancer/part-user.ts";
import type { ObservedAzure } from "../observed-azure.ts";
import type { PoolsInput } from "../managed-pools.ts";
import { type AccessRule, isWideDenial, type Opening } from "./fragment.ts";
import { accessRuleOf, securityGroupIndex } from "./security-rules.ts";
import { publicIPsAt, type Sharing } from "./shared-addresses.ts";

type SecurityGroupIndex = ReturnType<typeof securityGroupIndex>;

interface StandingInput extends Sharing, Pick<ObservedAzure, "securityGroup">, Pick<PoolsInput, "loadBalancers"> {}

interface Places {
  /** Of frontends, and additional ones. */
  readonly addresses: Iterable<string>;
  readonly nodes: readonly string[];
}

export function openForOthers(input: StandingInput, owner: Owner, { addresses, nodes }: Places): readonly Opening[] {
  const { securityGroup } = input;
  if (securityGroup === undefined) return [];
  const index = securityGroupIndex(securityGroup);
  const places = { addresses: new Set([...addresses, ...nodes]), nodes: new Set(nodes) };
  return [...underTheirNames(input, index, owner, places), ...served(input, index, owner, addresses)];
}

function underTheirNames(
  { otherServices }: StandingInput,
  { own, managed }: SecurityGroupIndex,
  owner: Owner,
  { addresses, nodes }: Readonly<Record<keyof Places, ReadonlySet<string>>>,
): Opening[] {
  const services = servicesByBase(otherServices);
  return [...own].flatMap(([base, names]) => {
    const other = base === owner.base.toLowerCase() ? undefined : services.get(base);
    if (other === undefined) return [];
    const rules = names.flatMap((name): AccessRule[] => {
      const { rule, destinations } = managed.get(name) ?? {};
      const here = [...(destinations?.keys() ?? [])].filter((address) => addresses.has(address));
      const family = familyOf(here[0] ?? "");
      if (rule === undefined || family === undefined) return [];
      const standing = { ...accessRuleOf(rule, family, here), own: true as const };
      if (!isWideDenial(standing)) return [standing];
      const onNodes = here.filter((address) => nodes.has(address));
      return onNodes.length === 0 ? [] : [{ ...standing, destinations: onNodes }];
    });
    return rules.length === 0 ? [] : [{ owner: ownerOf(other), rules, ownRules: true }];
  });
}

function served(
  input: StandingInput,
  { holders, managed }: SecurityGroupIndex,
  owner: Owner,
  addresses: Iterable<string>,
): Opening[] {
  return [...addresses].flatMap((address) => {
    const family = familyOf(address);
    const standing = (holders.get(address) ?? []).flatMap((name) => managed.get(name)?.rule ?? []);
    if (family === undefined || standing.length === 0) return [];
    const rules = standing.map((rule) => accessRuleOf(rule, family, [address]));
    return [...otherClaimsAt(input, owner, address)].flatMap(([service, claims]): Opening[] => {
      const theirs = rules.filter((rule) => isServed(rule, claims));
      return theirs.length === 0 ? [] : [{ owner: ownerOf(service), rules: theirs, ownRules: false }];
    });
  });
}

function otherClaimsAt(input: StandingInput, owner: Owner, address: string): ReadonlyMap<Service, readonly Claim[]> {
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
