/**
 * What a Service has in Azure now: on which frontends it stands, and at which addresses. What stands beside it on a load
 * balancer is `surroundings.ts`.
 */
import type { Frontend, LoadBalancer, PrivateLinkService, PublicIP } from "../model/arm.ts";
import { canonicalAddress } from "../util/cidr.ts";
import { parseId } from "../model/ids.ts";
import { loadBalancerIndex, standingOn } from "../resources/load-balancer/load-balancer-index.ts";
import { listedOf } from "../resources/observed-azure.ts";
import { publicIPIndex } from "../resources/public-ip/desired-public-ip.ts";
import type { Observed } from "../observed.ts";
import { nodeAddresses } from "../backends/eligible-nodes.ts";
import { linksOn } from "../resources/private-link-service/private-link-services.ts";
import type { Owner } from "../outcome.ts";

/** The frontends that bear its name, and those of others that its rules stand on. */
export function frontendsOf(loadBalancer: LoadBalancer, base: string): Frontend[] {
  return standingOn(loadBalancerIndex(loadBalancer), base);
}

/** The addresses of these frontends, as far as they have some yet, in their canonical spelling. */
export function addressesOn(observed: Pick<Observed, "listed">, frontends: readonly Frontend[]): string[] {
  return frontends.flatMap(({ properties: { publicIPAddress, privateIPAddress } }) => {
    const publicIP = publicIPAddress && findPublicIP(observed, publicIPAddress.id);
    const address = publicIPAddress === undefined ? privateIPAddress : publicIP?.properties.ipAddress;
    return address === undefined ? [] : [canonicalAddress(address)];
  });
}

export function findPublicIP(observed: Pick<Observed, "listed">, id: string): PublicIP | undefined {
  const { resourceGroup = "", name = "" } = parseId(id) ?? {};
  const list = listedOf(observed, "publicIP").get(resourceGroup.toLowerCase());
  return list && publicIPIndex(list).byName.get(name.toLowerCase());
}

/** Those that the Service has been seen with: in its status, unless a node has the address now. */
export function formerAddresses({ service, nodes }: Pick<Observed, "service" | "nodes">): string[] {
  const ofNodes = nodeAddresses(nodes);
  return publishedAddresses({ service }).filter((address) => !ofNodes.has(address));
}

export function publishedAddresses({ service }: Pick<Observed, "service">): string[] {
  return (service.status.loadBalancer.ingress ?? []).flatMap(({ ip }) =>
    ip === undefined ? [] : [canonicalAddress(ip)],
  );
}

/** The private link services on the frontends that a Service uses, whosever they are. */
export function linksOfService(observed: Observed, { base }: Owner): readonly PrivateLinkService[] {
  const all = listedOf(observed, "privateLinkService");
  if (all.size === 0) return [];
  const frontends = observed.loadBalancers.flatMap((seen) => frontendsOf(seen, base));
  return [...new Set(frontends.flatMap(({ id }) => (id === undefined ? [] : linksOn(all, id))))];
}
