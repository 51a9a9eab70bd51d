/**
 * Which public IPs a Service uses, which must be made for it, and which it gives back. Depends on what the Service asks
 * for and on what exists; when each may be written is decided by `service/reconcile-service.ts`: a public IP is never
 * deleted before its frontend.
 */
import type { LoadBalancer, PublicIP } from "../../model/arm.ts";
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { parseId, sameId } from "../../model/ids.ts";
import { baseOfPublicIP, publicIPName } from "../../model/names.ts";
import type { Service } from "../../model/kubernetes.ts";
import { loadBalancerIndex, loadBalancersWith, standingOn } from "../load-balancer/load-balancer-index.ts";
import { isBaseInUse } from "../load-balancer/part-user.ts";
import type { ServiceIntent } from "../../intent/service-intent.ts";
import type { Owner, Rejection } from "../../outcome.ts";
import { type Listed, listedOf } from "../observed-azure.ts";
import { type DesiredPublicIP, desiredPublicIP, type FormerPublicIPs, publicIPIndex } from "./desired-public-ip.ts";
import { absentPublicIP, type PublicIPFragment } from "./fragment.ts";
import { isOtherClusters, sameKey, servicesOf } from "../../model/tags.ts";

export interface PublicIPsSeen {
  readonly config: ClusterConfig;
  readonly zones: readonly string[];
  readonly loadBalancers: readonly LoadBalancer[];
  /** With the public IPs of the Service's resource groups, and of any that it may have left one in. */
  readonly listed: Listed;
  /** Every Service that counts where Services meet; absent: no public IP of a former incarnation is looked for. */
  readonly otherServices?: readonly Service[];
  /** Every Service of the cluster; absent: there are no more than those. */
  readonly clusterServices?: readonly Service[];
}

export interface DesiredPublicIPs {
  readonly uses: readonly DesiredPublicIP[];
  /** Those that the Service is bound to and does not use, of either family, wherever they are. */
  readonly releases: readonly PublicIPRelease[];
}

export interface PublicIPRelease {
  readonly seen: PublicIP;
  readonly fragment: PublicIPFragment;
}

/** An internal Service uses none. */
export function desiredPublicIPs(seen: PublicIPsSeen, intent: ServiceIntent): DesiredPublicIPs | Rejection {
  const publicIPs = listedOf(seen, "publicIP").get(intent.publicIPResourceGroup.toLowerCase()) ?? [];
  const input = { intent, config: seen.config, zones: seen.zones, publicIPs, former: formerOf(seen, intent.owner) };
  const uses: DesiredPublicIP[] = [];
  for (const family of intent.scope === "external" ? intent.families : []) {
    const desired = desiredPublicIP(input, family);
    if ("kind" in desired) return desired;
    uses.push(desired);
  }
  const used = uses.filter(({ mustBeReplaced }) => !mustBeReplaced).map(({ id }) => id);
  return { uses, releases: releasedPublicIPs(seen, intent.owner, used) };
}

function formerOf(seen: PublicIPsSeen, owner: Owner): FormerPublicIPs | undefined {
  const { otherServices, loadBalancers } = seen;
  if (otherServices === undefined) return undefined;
  const present = loadBalancersWith(loadBalancers, owner.base);
  const frontends = present.flatMap((loadBalancer) => standingOn(loadBalancerIndex(loadBalancer), owner.base));
  const ids = frontends.flatMap(({ properties }) => properties.publicIPAddress?.id.toLowerCase() ?? []);
  return {
    isCurrent: (base) => isBaseInUse(seen, base),
    isNew: present.length === 0,
    stoodOn: new Set(ids),
  };
}

/** Those that the controller made for the Service itself, or for its former incarnation: others it only shares. */
function isMadeFor(seen: PublicIPsSeen, owner: Owner, publicIP: PublicIP): boolean {
  const base = baseOfPublicIP(seen.config.clusterName, publicIP.name);
  if (base === undefined || base === owner.base.toLowerCase()) return base !== undefined;
  return sameKey(servicesOf(publicIP)?.[0] ?? "", owner.key) && !isBaseInUse(seen, base);
}

/**
 * "Should not exist", with nothing in `used`: all that the Service is bound to. `isProtected`: those that were made for it
 * stay.
 */
export function releasedPublicIPs(
  seen: PublicIPsSeen,
  owner: Owner,
  used: readonly string[],
  isProtected = false,
): PublicIPRelease[] {
  return boundPublicIPs(seen, owner)
    .filter(({ id }) => !used.some((one) => sameId(one, id)))
    .map((publicIP) => {
      const keptBy = holderOf(publicIP, seen);
      const isKept = isProtected && isMadeFor(seen, owner, publicIP);
      return { seen: publicIP, fragment: absentPublicIP(owner, keptBy, isKept) };
    });
}

/** Those whose tag lists the Service. Another cluster may have a Service of the same name. */
export function boundPublicIPs(seen: PublicIPsSeen, owner: Owner): PublicIP[] {
  const key = owner.key.toLowerCase();
  return [...listedOf(seen, "publicIP").values()]
    .flatMap((list) => publicIPIndex(list).byService.get(key) ?? [])
    .filter((publicIP) => !isOtherClusters(publicIP, seen.config.clusterName));
}

/**
 * Those under a name that is generated for the Service, without the tag that says so: its tags were removed, or a person
 * made it beforehand. It is used and never deleted.
 */
export function untaggedPublicIPs(seen: PublicIPsSeen, owner: Owner): PublicIP[] {
  const name = publicIPName(seen.config.clusterName, { base: owner.base, families: ["IPv4"] }, "IPv4").toLowerCase();
  return [...listedOf(seen, "publicIP").values()]
    .flatMap((list) => publicIPIndex(list).untagged)
    .filter((publicIP) => publicIP.name.toLowerCase().startsWith(name));
}

/**
 * What else the address is attached to. For a frontend of ours only the load balancers themselves say so: the public IP
 * may have been read before its frontend went.
 */
function holderOf(publicIP: PublicIP, { config, loadBalancers }: PublicIPsSeen): string | undefined {
  const holder = loadBalancers
    .map((loadBalancer) => loadBalancerIndex(loadBalancer).byPublicIP.get(publicIP.id.toLowerCase()))
    .find((frontend) => frontend !== undefined);
  if (holder !== undefined) return `frontend "${holder.name}"`;
  const attached = parseId(publicIP.properties.ipConfiguration?.id ?? "");
  if (attached === undefined) return undefined;
  const isGone =
    attached.type.toLowerCase() === "loadbalancers/frontendipconfigurations" &&
    attached.resourceGroup.toLowerCase() === config.loadBalancerResourceGroup.toLowerCase();
  return isGone ? undefined : `${attached.type} ${attached.names.join("/")}`;
}
