/**
 * What published Services have in Azure: for each address in a Service's status, the frontend that holds it, with the
 * Service's rules, their pool and the public IP. Rules are recognised by the Service's UID, so that another cluster in the
 * same resource group is never mistaken for this one; what a Service has at addresses that it no longer publishes does not
 * count. What follows from it is `configuration-changes.ts`.
 */
import { needsCleanup, wantsLoadBalancer, type ClassFilter } from "../intent/ownership.ts";
import type { BackendPool, LoadBalancer, LoadBalancingRule, PublicIP } from "../model/arm.ts";
import { nameOfId, parseId, sameId } from "../model/ids.ts";
import type { Service } from "../model/kubernetes.ts";
import { baseName } from "../model/names.ts";
import { frontendOf, loadBalancerIndex, partsOf } from "../resources/load-balancer/load-balancer-index.ts";
import { publicIPIndex } from "../resources/public-ip/desired-public-ip.ts";
import { canonicalAddress } from "../util/cidr.ts";

export interface PublishedCluster {
  readonly classFilter: ClassFilter;
  readonly services: readonly Service[];
  /** All load balancers of the load balancer's resource group. */
  readonly loadBalancers: readonly LoadBalancer[];
  /** By lower-cased resource group; a group that is missing could not be read, which proves nothing. */
  readonly publicIPs: ReadonlyMap<string, readonly PublicIP[]>;
  /** Ids of the load balancers whose pools the controller has filled, by the member lists; absent: not known. */
  readonly listedLoadBalancers?: readonly string[];
}

/** One address of a Service, where it stands in Azure. */
export interface PublishedAddress {
  readonly service: Service;
  readonly loadBalancer: LoadBalancer;
  /** Absent where the rule names none that exists. */
  readonly pool: BackendPool | undefined;
  /** Absent at private addresses. */
  readonly publicIP: PublicIP | undefined;
}

/** Services that are the controller's and have an address. */
export function publishedServices({
  services,
  classFilter,
}: Pick<PublishedCluster, "services" | "classFilter">): Service[] {
  return services.filter(
    (service) =>
      (wantsLoadBalancer(service, classFilter) || needsCleanup(service, classFilter)) && addressesOf(service).size > 0,
  );
}

/** Resource groups of the public IPs that the rules of published Services lead to, in lower case. */
export function publicIPGroups(cluster: Omit<PublishedCluster, "publicIPs">): ReadonlySet<string> {
  const ids = publishedServices(cluster).flatMap((service) =>
    rulesOf(service, cluster.loadBalancers).map(({ publicIPId = "" }) => publicIPId),
  );
  return new Set(ids.flatMap((id) => parseId(id)?.resourceGroup.toLowerCase() ?? []));
}

export function hasRules(service: Service, loadBalancers: readonly LoadBalancer[]): boolean {
  return rulesOf(service, loadBalancers).length > 0;
}

export function publishedAddresses(cluster: PublishedCluster): PublishedAddress[] {
  return publishedServices(cluster).flatMap((service) => {
    const published = addressesOf(service);
    return rulesOf(service, cluster.loadBalancers).flatMap(({ loadBalancer, rule, publicIPId, privateAddress }) => {
      const publicIP = publicIPId === undefined ? undefined : findPublicIP(cluster, publicIPId);
      const address = publicIP?.properties.ipAddress ?? privateAddress;
      if (address === undefined || !published.has(canonicalAddress(address))) return [];
      return [{ service, loadBalancer, pool: poolOf(loadBalancer, rule), publicIP }];
    });
  });
}

interface PlacedRule {
  readonly loadBalancer: LoadBalancer;
  readonly rule: LoadBalancingRule;
  /** Of its frontend. */
  readonly publicIPId: string | undefined;
  readonly privateAddress: string | undefined;
}

function rulesOf({ metadata }: Service, loadBalancers: readonly LoadBalancer[]): PlacedRule[] {
  return loadBalancers.flatMap((loadBalancer) => {
    const index = loadBalancerIndex(loadBalancer);
    return partsOf(index, baseName(metadata.uid)).rules.map((rule) => {
      const frontend = index.frontends.get(frontendOf(rule.properties.frontendIPConfiguration) ?? "");
      const { publicIPAddress, privateIPAddress } = frontend?.properties ?? {};
      return { loadBalancer, rule, publicIPId: publicIPAddress?.id, privateAddress: privateIPAddress };
    });
  });
}

function poolOf(loadBalancer: LoadBalancer, { properties }: LoadBalancingRule): BackendPool | undefined {
  const id = (properties.backendAddressPool ?? properties.backendAddressPools?.[0])?.id;
  return id === undefined ? undefined : loadBalancerIndex(loadBalancer).pools.get(nameOfId(id).toLowerCase());
}

function findPublicIP({ publicIPs }: PublishedCluster, id: string): PublicIP | undefined {
  const group = publicIPs.get(parseId(id)?.resourceGroup.toLowerCase() ?? "");
  const found = group && publicIPIndex(group).byName.get(nameOfId(id).toLowerCase());
  return found !== undefined && sameId(found.id, id) ? found : undefined;
}

function addressesOf({ status }: Service): ReadonlySet<string> {
  return new Set((status.loadBalancer.ingress ?? []).flatMap(({ ip }) => (ip ? [canonicalAddress(ip)] : [])));
}
