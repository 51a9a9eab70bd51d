/** The public IP of a LoadBalancer whose frontend is `public`, as the same kind of fragment that a Service has. */
import type { ClusterConfig } from "../../config/cluster-config.ts";
import { publicIPId } from "../../model/ids.ts";
import { publicIPName } from "../../model/names.ts";
import { absentPublicIP, type PublicIPFragment } from "../../resources/public-ip/fragment.ts";
import { CLUSTER_TAG } from "../../model/tags.ts";
import { azureOwner, baseOfObject, type ObjectKey } from "./azure-spec.ts";

function azurePublicIPName(key: ObjectKey, config: ClusterConfig): string {
  return publicIPName(config.clusterName, { base: baseOfObject(config.clusterName, key), families: ["IPv4"] }, "IPv4");
}

/** In the resource group of the cluster's load balancers, whichever group holds this load balancer. */
export function azurePublicIPId(key: ObjectKey, config: ClusterConfig): string {
  return publicIPId(config, config.loadBalancerResourceGroup, azurePublicIPName(key, config));
}

/** `release` deletes the public IP if it exists and belongs to this object. */
export function azurePublicIP(
  key: ObjectKey,
  config: ClusterConfig,
  zones: readonly string[],
  action: "use" | "release",
): PublicIPFragment {
  const owner = azureOwner(key, config);
  if (action === "release") return absentPublicIP(owner, undefined);
  const isZonal = config.extendedLocation === undefined && !config.azureStack && zones.length > 0;
  return {
    kind: "present",
    owner,
    family: "IPv4",
    create: {
      id: azurePublicIPId(key, config),
      name: azurePublicIPName(key, config),
      location: config.location,
      ...(config.extendedLocation && { extendedLocation: config.extendedLocation }),
      sku: { name: "Standard" },
      ...(isZonal && { zones }),
      tags: { [CLUSTER_TAG]: config.clusterName },
      properties: { publicIPAddressVersion: "IPv4", publicIPAllocationMethod: "Static" },
    },
    sku: "Standard",
    dnsLabel: undefined,
    tags: {},
    systemTags: [],
    ipTags: undefined,
  };
}
