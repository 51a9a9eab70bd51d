/**
 * ARM resource ids: built, parsed and compared. Azure keeps the case of an id as it was first written and ignores it
 * when comparing, so compare ids with `sameId` and use them as map keys in lower case only.
 */
const NETWORK = "Microsoft.Network";

type LoadBalancerPart =
  | "frontendIPConfigurations"
  | "backendAddressPools"
  | "loadBalancingRules"
  | "probes"
  | "inboundNatRules"
  | "inboundNatPools"
  | "outboundRules";

/** Of the cloud config: the subscription of all network resources. */
interface NetworkScope {
  readonly networkSubscriptionId: string;
}

interface VirtualNetwork extends NetworkScope {
  readonly vnetResourceGroup: string;
  readonly vnetName: string;
}

export function loadBalancerId(
  config: NetworkScope & { readonly loadBalancerResourceGroup: string },
  name: string,
): string {
  return networkId(config.networkSubscriptionId, config.loadBalancerResourceGroup, `loadBalancers/${name}`);
}

export function loadBalancerPartId(loadBalancer: string, part: LoadBalancerPart, name: string): string {
  return `${loadBalancer}/${part}/${name}`;
}

export function publicIPId(config: NetworkScope, resourceGroup: string, name: string): string {
  return networkId(config.networkSubscriptionId, resourceGroup, `publicIPAddresses/${name}`);
}

/** In the subscription of the cluster, as the incumbent has them, not that of the network. */
export function privateLinkServiceId(
  config: { readonly subscriptionId: string },
  resourceGroup: string,
  name: string,
): string {
  return networkId(config.subscriptionId, resourceGroup, `privateLinkServices/${name}`);
}

export function securityGroupId(
  config: NetworkScope & { readonly securityGroupResourceGroup: string; readonly securityGroupName: string },
): string {
  const { networkSubscriptionId, securityGroupResourceGroup, securityGroupName } = config;
  return networkId(networkSubscriptionId, securityGroupResourceGroup, `networkSecurityGroups/${securityGroupName}`);
}

export function virtualNetworkId(config: VirtualNetwork): string {
  return networkId(config.networkSubscriptionId, config.vnetResourceGroup, `virtualNetworks/${config.vnetName}`);
}

export function subnetId(config: VirtualNetwork, name: string): string {
  return `${virtualNetworkId(config)}/subnets/${name}`;
}

function networkId(subscription: string, resourceGroup: string, resource: string): string {
  return `/subscriptions/${subscription}/resourceGroups/${resourceGroup}/providers/${NETWORK}/${resource}`;
}

interface ParsedId {
  readonly subscription: string;
  readonly resourceGroup: string;
  readonly provider: string;
  /** `loadBalancers/frontendIPConfigurations`: the types of the path, without the names. */
  readonly type: string;
  /** The names of the path, outermost first; never empty. */
  readonly names: readonly string[];
  /** The last of the names. */
  readonly name: string;
}

/** `undefined` unless it is the id of a resource in a resource group. */
export function parseId(id: string): ParsedId | undefined {
  const match = /^\/subscriptions\/([^/]+)\/resourceGroups\/([^/]+)\/providers\/([^/]+)((?:\/[^/]+\/[^/]+)+)$/i.exec(
    id,
  );
  if (match === null) return undefined;
  const [, subscription = "", resourceGroup = "", provider = "", path = ""] = match;
  const segments = path.slice(1).split("/");
  const names = segments.filter((_, at) => at % 2 === 1);
  const type = segments.filter((_, at) => at % 2 === 0).join("/");
  return { subscription, resourceGroup, provider, type, names, name: names.at(-1) ?? "" };
}

/** The last segment of any id. */
export function nameOfId(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1);
}

/** The id of the resource that a part (a frontend, a pool, a subnet, an ipConfiguration) belongs to. */
export function parentId(id: string): string {
  return id.split("/").slice(0, -2).join("/");
}

/**
 * Parts of a resource that Azure lets clients write by themselves, though they live in its body and share its ETag.
 * Subnets are none here: they are read and written alone, which needs no right to read the VNet.
 */
const PART =
  /^(.*\/(?:loadBalancers\/[^/]+\/(?:backendAddressPools|inboundNatRules)|networkSecurityGroups\/[^/]+\/securityRules|privateLinkServices\/[^/]+\/privateEndpointConnections))\/[^/]+$/i;

export function isPart(id: string): boolean {
  return PART.test(id);
}

/** The id of the resource that is written under one ETag: that of a part's whole; of any other, the id itself. */
export function wholeOf(id: string): string {
  const collection = PART.exec(id)?.[1];
  return collection === undefined ? id : collection.slice(0, collection.lastIndexOf("/"));
}

/** Checked before a name becomes part of a path, which it must not be able to leave. */
export function isResourceName(name: string): boolean {
  return /^[a-z\d](?:[\w.-]{0,78}\w)?$/i.test(name);
}

export function isResourceGroupName(name: string): boolean {
  return /^[\p{L}\p{N}_().-]{0,89}[\p{L}\p{N}_()-]$/u.test(name);
}

/** Two absent ids are not the same resource. */
export function sameId(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one.toLowerCase() === other.toLowerCase();
}
