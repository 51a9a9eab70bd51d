/**
 * What makes knowledge of Azure stale. Lists of Azure resources are kept between reads; these rules say when one must be
 * read again before a decision rests on it. The drift check repeats all reads as a safety net, and nothing relies on it.
 *
 *   event                                              | stale
 *   ---------------------------------------------------|------------------------------------------------------------
 *   a Node whose machine no listing shows              | machines: it is newer than the listing
 *   a load balancer or one of its pools is gone, or    | machines: Azure has taken them out of that pool
 *   a pool holds none of them any more                 |
 *   a machine joins or leaves a pool of a migration    | load balancers: the pool's members decide what comes next
 *   a load balancer's frontends have changed           | public IPs: `heldPublicIPs`
 *   a private link service moves to or from a frontend | load balancers: they have another ETag, and show it
 *   a private link service is about to be made         | those of its group: `service/private-links.ts`
 *   a frontend shows one that its group's list has not | those of its group: it is newer than the list
 *   a Service waits for an address, or for another     | load balancers, public IPs: no write of the controller
 *   client to end its change                           | will show that it is over
 *   a refusal, before it is told                       | everything: what was missing may have been made since
 *   Azure refuses a write that names what is not there | everything, once in a sync: it was there when it was last seen
 *   a write by another holder of the resource lock     | everything
 *   a write takes rules or access away: `takesAway`    | the look that found a Service settled while that write was under way:
 *                                                      | it may have relied on them
 *   a read that is older than a write of the           | what was written is kept; the read is repeated after
 *   controller: it lacks what was written, or shows    | `READS_LAG_MS`
 *   a version that was replaced                        |
 */
import { type Compute } from "./backends/compute.ts";
import { machineOf, nicResourceOf } from "./backends/machines.ts";
import type {
  BackendPool,
  LoadBalancer,
  PrivateLinkService,
  PublicIP,
  SecurityGroup,
  SecurityRule,
} from "./model/arm.ts";
import { sameId } from "./model/ids.ts";
import type { Node } from "./model/kubernetes.ts";

/** For so long after a write, a read of Azure may show what was before it. */
export const READS_LAG_MS = 15_000;

/** Ids, in lower case, of the nodes' machines that the listing does not show with their network interface. */
export function unlistedMachines(nodes: readonly Node[], compute: Compute): string[] {
  return nodes.flatMap((node) => {
    const machine = machineOf(node);
    return machine === undefined || nicResourceOf(node, compute) !== undefined ? [] : [machine.id.toLowerCase()];
  });
}

/**
 * What a public IP looks like once the load balancer `id` is as `now` says; itself where that changes nothing. A write to
 * the load balancer changes the public IPs that its frontends hold too (their `ipConfiguration`, and an ETag that only a
 * read tells), so a cache of both, or a prediction, must follow.
 */
export function heldPublicIPs(id: string, now: LoadBalancer | undefined): (publicIP: PublicIP) => PublicIP {
  const holders = new Map(
    (now?.properties.frontendIPConfigurations ?? []).flatMap((frontend) => {
      const held = frontend.properties.publicIPAddress?.id;
      return held === undefined || frontend.id === undefined ? [] : [[held.toLowerCase(), frontend.id] as const];
    }),
  );
  const own = `${id}/frontendIPConfigurations/`.toLowerCase();
  return (publicIP) => {
    const heldBy = publicIP.properties.ipConfiguration?.id;
    const holder = holders.get(publicIP.id.toLowerCase());
    if (holder !== undefined) return sameId(heldBy, holder) ? publicIP : attached(publicIP, holder);
    return heldBy?.toLowerCase().startsWith(own) ? attached(publicIP, undefined) : publicIP;
  };
}

function attached(publicIP: PublicIP, frontend: string | undefined): PublicIP {
  const { ipConfiguration: _, ...rest } = publicIP.properties;
  return { ...publicIP, properties: frontend === undefined ? rest : { ...rest, ipConfiguration: { id: frontend } } };
}

/**
 * Whether machines have left a pool because that pool went, or took addresses in their place. `undefined`: not there, or
 * never seen.
 */
export function takesPoolsAway(before: LoadBalancer | undefined, after: LoadBalancer | undefined): boolean {
  if (after === undefined) return true;
  const left = new Map((after.properties.backendAddressPools ?? []).map((pool) => [pool.name.toLowerCase(), pool]));
  return (before?.properties.backendAddressPools ?? []).some((pool) => {
    const now = left.get(pool.name.toLowerCase());
    return now === undefined || (holdsMachines(pool) && !holdsMachines(now));
  });
}

function holdsMachines({ properties }: BackendPool): boolean {
  return (properties.backendIPConfigurations ?? []).length > 0;
}

/** Whether it stands on other frontends than before. `undefined`: not there, or never seen. */
export function movesPrivateLink(
  before: PrivateLinkService | undefined,
  after: PrivateLinkService | undefined,
): boolean {
  const [old, now] = [before, after].map((link) =>
    (link?.properties.loadBalancerFrontendIpConfigurations ?? []).map(({ id }) => id.toLowerCase()).toSorted(),
  );
  return JSON.stringify(old) !== JSON.stringify(now);
}

/** Whether a frontend shows a private link service that the list at this path should have, and has not. */
export function showsUnlistedLink(
  loadBalancers: readonly LoadBalancer[],
  path: string,
  listed: readonly PrivateLinkService[],
): boolean {
  const known = new Set(listed.map(({ id }) => id.toLowerCase()));
  return loadBalancers
    .flatMap(({ properties }) => properties.frontendIPConfigurations ?? [])
    .flatMap(({ properties }) => properties.privateLinkServices ?? [])
    .map(({ id }) => id.toLowerCase())
    .some((id) => id.startsWith(`${path.toLowerCase()}/`) && !known.has(id));
}

/**
 * Whether a load balancer has lost a rule, or a security group something that it let in. Services share addresses, so one may
 * rely on what another takes away. `undefined`: not there.
 */
export function takesAway(
  before: LoadBalancer | SecurityGroup,
  after: LoadBalancer | SecurityGroup | undefined,
): boolean {
  if (after === undefined) return true;
  const left = new Map(rulesOf(after).map((rule) => [rule.name, rule]));
  return rulesOf(before).some((rule) => {
    const now = left.get(rule.name);
    return now === undefined || !letsIn(now).isSupersetOf(letsIn(rule));
  });
}

type Rule = { readonly name: string; readonly properties: object };

function rulesOf({ properties }: LoadBalancer | SecurityGroup): readonly Rule[] {
  const of: Pick<LoadBalancer["properties"], "loadBalancingRules"> & SecurityGroup["properties"] = properties;
  return of.securityRules ?? of.loadBalancingRules ?? [];
}

/** What the lists of a security rule name; nothing of another rule: a change of it leaves it in its place. */
function letsIn({ properties }: Rule): ReadonlySet<string> {
  const rule = properties as Partial<SecurityRule["properties"]>;
  const lists = {
    to: [rule.destinationAddressPrefix ?? [], rule.destinationAddressPrefixes ?? []],
    port: [rule.destinationPortRange ?? [], rule.destinationPortRanges ?? []],
    from: [rule.sourceAddressPrefix ?? [], rule.sourceAddressPrefixes ?? []],
  };
  return new Set(Object.entries(lists).flatMap(([key, values]) => values.flat().map((value) => `${key} ${value}`)));
}
