/**
 * Azure resources as raw ARM JSON. Every type is open, because a body is shared with users and tools that may set
 * fields of newer API versions: a change spreads the body it was read from, so that unknown fields are written back
 * unchanged. Only the fields that decisions read are named here.
 */

export type { Family } from "../util/cidr.ts";

interface Open {
  readonly [field: string]: unknown;
}

export interface Reference extends Open {
  readonly id: string;
}

interface Resource<Properties> extends Open {
  readonly id: string;
  readonly name: string;
  readonly etag?: string;
  readonly location?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly zones?: readonly string[];
  readonly sku?: { readonly name?: string; readonly tier?: string };
  readonly properties: Properties;
}

/** A part of a shared resource: frontend, rule, probe, pool, security rule. `id` is absent until Azure has stored it. */
interface Child<Properties> extends Open {
  readonly id?: string;
  readonly name: string;
  readonly zones?: readonly string[];
  readonly properties: Properties;
}

interface Provisioned extends Open {
  readonly provisioningState?: string;
}

interface FrontendProperties extends Provisioned {
  readonly privateIPAddress?: string;
  readonly privateIPAllocationMethod?: string;
  readonly privateIPAddressVersion?: string;
  readonly subnet?: Reference;
  readonly publicIPAddress?: Reference;
  readonly loadBalancingRules?: readonly Reference[];
  readonly inboundNatRules?: readonly Reference[];
  readonly inboundNatPools?: readonly Reference[];
  readonly outboundRules?: readonly Reference[];
  /** Shown by some API versions only. */
  readonly privateLinkServices?: readonly Reference[];
  /** Absent where it is off. */
  readonly enableConnectionTracking?: boolean;
  /** `undefined` in what is wanted: none. */
  readonly gatewayLoadBalancer?: Reference | undefined;
}
export type Frontend = Child<FrontendProperties>;

interface RuleProperties extends Provisioned {
  readonly protocol: string;
  readonly frontendPort: number;
  readonly backendPort?: number;
  readonly frontendIPConfiguration?: Reference;
  readonly backendAddressPool?: Reference;
  readonly backendAddressPools?: readonly Reference[];
  readonly probe?: Reference;
  readonly enableFloatingIP?: boolean;
  readonly enableTcpReset?: boolean;
  readonly disableOutboundSnat?: boolean;
  readonly idleTimeoutInMinutes?: number;
  readonly loadDistribution?: string;
}
export type LoadBalancingRule = Child<RuleProperties>;

export interface ProbeProperties extends Provisioned {
  readonly protocol: string;
  readonly port: number;
  readonly requestPath?: string;
  readonly intervalInSeconds?: number;
  readonly numberOfProbes?: number;
  readonly probeThreshold?: number;
  /** Absent: `AllProbedDown`. */
  readonly noHealthyBackendsBehavior?: string;
}
export type Probe = Child<ProbeProperties>;

/** Azure never returns `None`: absent means `None`. */
export type AdminState = "None" | "Up" | "Down";

interface BackendAddressProperties extends Provisioned {
  readonly ipAddress?: string;
  readonly adminState?: string;
  readonly virtualNetwork?: Reference;
  readonly subnet?: Reference;
  readonly networkInterfaceIPConfiguration?: Reference;
}
export type BackendAddress = Child<BackendAddressProperties>;

interface BackendPoolProperties extends Provisioned {
  readonly loadBalancerBackendAddresses?: readonly BackendAddress[];
  readonly backendIPConfigurations?: readonly Reference[];
  readonly virtualNetwork?: Reference;
}
export type BackendPool = Child<BackendPoolProperties>;

export interface LoadBalancerProperties extends Provisioned {
  readonly frontendIPConfigurations?: readonly Frontend[];
  readonly backendAddressPools?: readonly BackendPool[];
  readonly loadBalancingRules?: readonly LoadBalancingRule[];
  readonly probes?: readonly Probe[];
  readonly inboundNatRules?: readonly Child<Open>[];
  readonly inboundNatPools?: readonly Child<Open>[];
  readonly outboundRules?: readonly Child<Open>[];
}
export type LoadBalancer = Resource<LoadBalancerProperties>;

interface PublicIPProperties extends Provisioned {
  readonly ipAddress?: string;
  readonly publicIPAddressVersion?: string;
  readonly publicIPAllocationMethod?: string;
  readonly ipConfiguration?: Reference;
  readonly publicIPPrefix?: Reference;
  readonly dnsSettings?: {
    readonly domainNameLabel?: string;
    readonly fqdn?: string;
    readonly [field: string]: unknown;
  };
  readonly ipTags?: readonly { readonly ipTagType?: string; readonly tag?: string }[];
}
export type PublicIP = Resource<PublicIPProperties>;

export interface SecurityRuleProperties extends Provisioned {
  readonly protocol: string;
  readonly access: string;
  readonly direction: string;
  readonly priority: number;
  readonly sourcePortRange?: string;
  readonly sourceAddressPrefix?: string;
  readonly sourceAddressPrefixes?: readonly string[];
  readonly destinationAddressPrefix?: string;
  readonly destinationAddressPrefixes?: readonly string[];
  readonly destinationPortRange?: string;
  readonly destinationPortRanges?: readonly string[];
}
export type SecurityRule = Child<SecurityRuleProperties>;

interface SecurityGroupProperties extends Provisioned {
  readonly securityRules?: readonly SecurityRule[];
}
export type SecurityGroup = Resource<SecurityGroupProperties>;

interface SubnetProperties extends Provisioned {
  readonly addressPrefix?: string;
  readonly addressPrefixes?: readonly string[];
  readonly privateLinkServiceNetworkPolicies?: string;
}
export type Subnet = Child<SubnetProperties>;

interface PrivateLinkAddressProperties extends Provisioned {
  readonly privateIPAddress?: string;
  readonly privateIPAllocationMethod?: string;
  readonly privateIPAddressVersion?: string;
  readonly primary?: boolean;
  readonly subnet?: Reference;
}
export type PrivateLinkAddress = Child<PrivateLinkAddressProperties>;

export type PrivateEndpointConnection = Child<Provisioned>;

interface PrivateLinkServiceProperties extends Provisioned {
  readonly loadBalancerFrontendIpConfigurations?: readonly Reference[];
  readonly ipConfigurations?: readonly PrivateLinkAddress[];
  readonly enableProxyProtocol?: boolean;
  readonly fqdns?: readonly string[];
  readonly visibility?: Subscriptions;
  readonly autoApproval?: Subscriptions;
  readonly privateEndpointConnections?: readonly PrivateEndpointConnection[];
}
export type PrivateLinkService = Resource<PrivateLinkServiceProperties>;

interface Subscriptions extends Open {
  readonly subscriptions?: readonly string[];
}
