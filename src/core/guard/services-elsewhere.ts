/**
 * Published Services of which the configured resource group of load balancers holds nothing, and the group that does: that
 * of the load balancer on whose frontend their public IP is; else, where no published Service has anything in the
 * configured group, that of the load balancers which the member lists name.
 */
import type { PublicIP } from "../model/arm.ts";
import { parseId } from "../model/ids.ts";
import { serviceKey, type Service } from "../model/kubernetes.ts";
import { listsService } from "../model/tags.ts";
import { hasRules, publishedServices, type PublishedCluster } from "./published-services.ts";

export interface ServiceElsewhere {
  readonly service: Service;
  readonly group: string;
}

export function servicesElsewhere(cluster: PublishedCluster, configured: string): ServiceElsewhere[] {
  const published = publishedServices(cluster);
  const missing = published.filter((service) => !hasRules(service, cluster.loadBalancers));
  const isOther = (group: string | undefined): group is string =>
    group !== undefined && group.toLowerCase() !== configured.toLowerCase();
  const listed = (cluster.listedLoadBalancers ?? []).flatMap((id) => groupOfLoadBalancer(id) ?? []);
  const isAllElsewhere = missing.length === published.length && listed.every(isOther);
  return missing.flatMap((service) => {
    const group = groupOfPublicIP(service, cluster) ?? (isAllElsewhere ? listed[0] : undefined);
    return isOther(group) ? [{ service, group }] : [];
  });
}

function groupOfPublicIP(service: Service, { publicIPs }: PublishedCluster): string | undefined {
  const isOfService = (publicIP: PublicIP): boolean => listsService(publicIP, serviceKey(service));
  const own = [...publicIPs.values()].flat().filter(isOfService);
  return own.flatMap(({ properties }) => groupOfLoadBalancer(properties.ipConfiguration?.id ?? "") ?? [])[0];
}

/** Of a load balancer, or of a part of one. */
function groupOfLoadBalancer(id: string): string | undefined {
  const parsed = parseId(id);
  return parsed?.type.toLowerCase().startsWith("loadbalancers") === true ? parsed.resourceGroup : undefined;
}
