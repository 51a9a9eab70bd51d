/**
 * The cloud configuration with every value checked and every default filled in. `parse-config.ts` creates it from an
 * `azure.json`.
 */

import type { LabelSelector } from "../util/label-selector.ts";

type VmType = "vmss" | "standard" | "vmssflex";
type PoolType = "nodeIPConfiguration" | "nodeIP";
type Sku = "standard" | "basic";
/** Of one load balancer: see `resources/load-balancer/limits.ts`. */
export interface LoadBalancerLimits {
  readonly frontends: number;
  /** Load balancing and inbound NAT rules. */
  readonly rules: number;
  /** Rules that one network interface is behind, over all its load balancers. */
  readonly rulesPerInterface: number;
  /** Rules times members of their pools, over all frontends. */
  readonly backends: number;
  /** Of a request that writes it whole. */
  readonly requestBytes: number;
}
export type AddressSharing = "any" | "namespace" | "consent";

export interface ClusterConfig {
  readonly clusterName: string;
  readonly location: string;
  readonly subscriptionId: string;
  /** Subscription of load balancers, public IPs, security groups and subnets. */
  readonly networkSubscriptionId: string;
  readonly resourceGroup: string;
  readonly loadBalancerResourceGroup: string;
  readonly privateLinkServiceResourceGroup: string;
  readonly loadBalancerName: string;
  /** The Standard load balancers that Services are placed on, each with an internal counterpart; empty: one of each kind. */
  readonly loadBalancers: readonly LoadBalancerConfig[];
  /** How many load balancers of each kind may be made as the ones before fill up; 1: no fleet. */
  readonly fleetMax: number;
  readonly sku: Sku;
  readonly vmType: VmType;
  readonly poolType: PoolType;
  /** The user lets pools of the other type be migrated to `poolType`; otherwise they are refused. */
  readonly migratesPools: boolean;
  /** From interfaces to addresses by Azure's own action, instead of by way of a second pool. */
  readonly migratesByAction: boolean;
  readonly vnetName: string;
  readonly vnetResourceGroup: string;
  readonly subnetName: string;
  readonly securityGroupName: string;
  readonly securityGroupResourceGroup: string;
  readonly primaryVmSet: string;
  readonly excludeMasterFromStandardLB: boolean;
  readonly disableOutboundSnat: boolean;
  readonly maximumLoadBalancerRuleCount: number;
  readonly loadBalancerLimits: LoadBalancerLimits;
  /** Load balancers whose pools another tool fills: the controller neither manages their members nor deletes them. */
  readonly preConfiguredPools: "none" | "internal" | "external" | "all";
  readonly sharedProbe: { readonly port: number; readonly path: string } | undefined;
  readonly enableIPTagMutation: boolean;
  readonly enableAdminState: boolean;
  /** Keys of taints that set a node Down besides the usual ones. */
  readonly adminStateTaints: readonly string[];
  /** Namespaces whose Events about Nodes are believed: the right to create Events there is the right to drain nodes. */
  readonly nodeEventNamespaces: readonly string[];
  /** Whether a Service may join an address that a Service of another namespace has: see `intent/address-sharing.ts`. */
  readonly addressSharing: AddressSharing;
  readonly tags: Readonly<Record<string, string>>;
  readonly systemTags: readonly string[];
  readonly extendedLocation: { readonly name: string; readonly type: string } | undefined;
  /** Azure Stack supports only older API versions, and has no zones. */
  readonly azureStack: boolean;
  /** The file or Secret that it was read from, for texts; absent: not known. */
  readonly source?: string;
}

/** A key of the cloud config, for a text about it: `vnetName of /etc/kubernetes/azure.json`. */
export function keyText(key: string, { source = "the cloud config" }: Pick<ClusterConfig, "source">): string {
  return `${key} of ${source}`;
}

/** Services with `externalTrafficPolicy: Local` have pools of the nodes with their endpoints. */
export function watchesEndpoints({ loadBalancers }: Pick<ClusterConfig, "loadBalancers">): boolean {
  return loadBalancers.length > 0;
}

/** The labels of a Service's namespace decide where it is placed. */
export function watchesNamespaces({ loadBalancers }: Pick<ClusterConfig, "loadBalancers">): boolean {
  return loadBalancers.some(({ namespaceSelector }) => namespaceSelector !== undefined);
}

/** One of several Standard load balancers. */
export interface LoadBalancerConfig {
  /** Of the external one; unique without case. */
  readonly name: string;
  /** Its nodes belong to this load balancer while that exists. */
  readonly primaryVmSet: string;
  /** False: no Service is placed on it any more; those that are there stay. */
  readonly allowServicePlacement: boolean;
  /** On the labels of a Service and of its namespace; absent: not asked. */
  readonly serviceSelector: LabelSelector | undefined;
  readonly namespaceSelector: LabelSelector | undefined;
  /** On the labels of nodes that no existing load balancer has as its primary VM set. */
  readonly nodeSelector: LabelSelector | undefined;
}
