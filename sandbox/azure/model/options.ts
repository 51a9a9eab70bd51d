/**
 * Options of the emulated Azure. Limits can be lowered to provoke errors in a test, or raised to measure beyond Azure's
 * own.
 */

/** Azure's own figures, per region and subscription unless the name says otherwise. */
export const AZURE_LIMITS = {
  loadBalancers: 1_000,
  frontendsPerLoadBalancer: 600,
  rulesPerLoadBalancer: 1_500,
  outboundRulesPerLoadBalancer: 600,
  rulesPerNic: 300,
  poolSize: 5_000,
  globalPoolSize: 300,
  backendIpConfigurationsPerFrontend: 10_000,
  backendIpConfigurationsPerLoadBalancer: 500_000,
  basicFrontendsPerLoadBalancer: 200,
  basicRulesPerLoadBalancer: 250,
  basicPoolSize: 300,
  availabilitySetsPerBasicLoadBalancer: 150,
  networkSecurityGroups: 5_000,
  rulesPerSecurityGroup: 1_000,
  addressesOrPortsPerSecurityGroup: 4_000,
  virtualNetworks: 1_000,
  subnetsPerVirtualNetwork: 3_000,
  networkInterfaces: 65_536,
  privateAddressesPerVirtualNetwork: 65_536,
  ipConfigurationsPerNic: 256,
  publicIps: 1_000,
  staticPublicIps: 1_000,
  standardPublicIps: 1_000,
  shortestPublicPrefixIpv4: 28,
  shortestPublicPrefixIpv6: 124,
  instancesPerScaleSet: 1_000,
  natAddressesPerPrivateLinkService: 8,
  privateLinkServicesPerLoadBalancer: 8,
  tagsPerResource: 50,
} as const satisfies Record<string, number>;

export type Limits = { readonly [name in keyof typeof AZURE_LIMITS]: number };

/** A field that is hidden in answers to api-versions before `since`. */
export interface HiddenField {
  /** Canonical ARM type of the top-level resource. */
  readonly type: string;
  /** Path in its body; `[]` steps into each item: `properties.probes[].properties.probeThreshold`. */
  readonly path: string;
  /** First api-version that shows it, e.g. `2026-01-01`. */
  readonly since: string;
}

const LOAD_BALANCER = "Microsoft.Network/loadBalancers";

/** Fields that Azure introduced with an api-version. */
const AZURE_HIDDEN_FIELDS: readonly HiddenField[] = [
  { type: LOAD_BALANCER, path: "properties.mode", since: "2026-01-01" },
  { type: LOAD_BALANCER, path: "properties.frontendIPConfigurations[].properties.ddosSettings", since: "2026-01-01" },
  {
    type: LOAD_BALANCER,
    path: "properties.frontendIPConfigurations[].properties.enableConnectionTracking",
    since: "2026-01-01",
  },
  {
    type: "Microsoft.Network/networkInterfaces",
    path: "properties.defaultOutboundConnectivityEnabled",
    since: "2025-01-01",
  },
];

/** Whether a member's adminState survives a PUT that omits it, which Azure does not document. */
interface AdminStateSurvival {
  readonly ipMembers: boolean;
  readonly nicMembers: boolean;
}

export interface Options {
  readonly limits: Limits;
  readonly hiddenFields: readonly HiddenField[];
  readonly adminStateSurvives: AdminStateSurvival;
  /** Known regions; the first one is the provider's home. Empty: any name is accepted. */
  readonly regions: readonly string[];
  /** Known subscriptions. Empty: any is accepted. */
  readonly subscriptions: readonly string[];
  /** The id of the tenant of all subscriptions. */
  readonly tenant: string;
  /** Items per page of a list; 0 puts everything on one page. */
  readonly pageSize: number;
  /** How long an ended operation can be polled. */
  readonly operationRetentionMs: number;
}

export type OptionOverrides = { readonly [name in keyof Options]?: Partial<Options[name]> | Options[name] };

const DEFAULTS: Options = {
  limits: AZURE_LIMITS,
  hiddenFields: AZURE_HIDDEN_FIELDS,
  adminStateSurvives: { ipMembers: false, nicMembers: true },
  regions: [],
  subscriptions: [],
  tenant: "00000000-0000-4000-8000-000000000000",
  pageSize: 0,
  operationRetentionMs: 900_000,
};

/** The options with some of them replaced; limits and switches are replaced one by one. */
export function withOptions(overrides: OptionOverrides, base: Options = DEFAULTS): Options {
  return {
    ...base,
    ...(overrides as Partial<Options>),
    limits: { ...base.limits, ...overrides.limits },
    adminStateSurvives: { ...base.adminStateSurvives, ...overrides.adminStateSurvives },
  };
}
