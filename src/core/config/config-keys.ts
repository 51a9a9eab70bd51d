/**
 * Every known key of an `azure.json`. Keys match without case.
 *
 *   use       | meaning
 *   ----------|------------------------------------------------------------------------------------------
 *   used      | read by `parse-config.ts` or `parse-credentials.ts`
 *   elsewhere | configures other controllers (routes, disks, node lifecycle); ignored without a warning
 *   noEffect  | tunes a mechanism that this controller does not have; ignored with a warning
 */
type KeyUse = "used" | "elsewhere" | "noEffect";

const USED = [
  "cloud",
  "resourceManagerEndpoint",
  "disableAzureStackCloud",
  "tenantId",
  "subscriptionId",
  "networkResourceTenantID",
  "networkResourceSubscriptionID",
  "aadClientId",
  "aadClientSecret",
  "aadClientCertPath",
  "aadClientCertPassword",
  "useManagedIdentityExtension",
  "userAssignedIdentityID",
  "aadFederatedTokenFile",
  "useFederatedWorkloadIdentityExtension",
  "userAgent",
  "caFile",
  "cloudConfigType",
  "resourceGroup",
  "location",
  "extendedLocationName",
  "extendedLocationType",
  "vnetName",
  "vnetResourceGroup",
  "subnetName",
  "securityGroupName",
  "securityGroupResourceGroup",
  "loadBalancerSku",
  "loadBalancerName",
  "loadBalancerResourceGroup",
  "vmType",
  "primaryAvailabilitySetName",
  "primaryScaleSetName",
  "disableAvailabilitySetNodes",
  "excludeMasterFromStandardLB",
  "disableOutboundSNAT",
  "maximumLoadBalancerRuleCount",
  "loadBalancerBackendPoolConfigurationType",
  "preConfiguredBackendPoolLoadBalancerTypes",
  "multipleStandardLoadBalancerConfigurations",
  "serviceGatewayEnabled",
  "clusterServiceLoadBalancerHealthProbeMode",
  "clusterServiceSharedLoadBalancerHealthProbePort",
  "clusterServiceSharedLoadBalancerHealthProbePath",
  "enableIPTagMutationForExistingPublicIP",
  "enableLoadBalancerAdminState",
  "loadBalancerAdminStateTaints",
  "tags",
  "tagsMap",
  "systemTags",
  "nodeEventNamespaces",
  "addressSharing",
  "loadBalancerLimits",
  "loadBalancerFleet",
  "privateLinkServiceResourceGroup",
  "enableMigrateToIPBasedBackendPoolAPI",
] as const;
export type ConfigKey = (typeof USED)[number];

const ELSEWHERE = [
  "identitySystem",
  "routeTableName",
  "routeTableResourceGroup",
  "routeUpdateIntervalInSeconds",
  "useInstanceMetadata",
  "enableVmssFlexNodes",
  "nodeInstanceNotFoundGracePeriodInSeconds",
  "listVmssVirtualMachinesWithoutInstanceView",
  "disableCloudProvider",
  "providerVaultName",
  "providerKeyName",
  "providerKeyVersion",
] as const;

const NO_EFFECT = [
  "aadMSIDataPlaneIdentityPath",
  "auxiliaryTokenProvider",
  "putVMSSVMBatchSize",
  "loadBalancerBackendPoolUpdateIntervalInSeconds",
  "cloudProviderBackoff",
  "cloudProviderBackoffRetries",
  "cloudProviderBackoffExponent",
  "cloudProviderBackoffDuration",
  "cloudProviderBackoffJitter",
  "cloudProviderBackoffMode",
  "enableMinimumRetryAfter",
  "cloudProviderRateLimit",
  "cloudProviderRateLimitQPS",
  "cloudProviderRateLimitBucket",
  "cloudProviderRateLimitQPSWrite",
  "cloudProviderRateLimitBucketWrite",
  "disableAPICallCache",
  "vmCacheTTLInSeconds",
  "loadBalancerCacheTTLInSeconds",
  "nsgCacheTTLInSeconds",
  "publicIPCacheTTLInSeconds",
  "plsCacheTTLInSeconds",
  "routeTableCacheTTLInSeconds",
  "vmssCacheTTLInSeconds",
  "vmssVirtualMachinesCacheTTLInSeconds",
  "vmssFlexCacheTTLInSeconds",
  "vmssFlexVMCacheTTLInSeconds",
  "availabilitySetsCacheTTLInSeconds",
  "nonVmssUniformNodesCacheTTLInSeconds",
] as const;

/** One object per client, `loadBalancerRateLimit` and two dozen more. */
const CLIENT_RATE_LIMIT = /^[a-z]+ratelimit$/i;

const USES: ReadonlyMap<string, KeyUse> = new Map<string, KeyUse>([
  ...USED.map((key) => [key.toLowerCase(), "used"] as const),
  ...ELSEWHERE.map((key) => [key.toLowerCase(), "elsewhere"] as const),
  ...NO_EFFECT.map((key) => [key.toLowerCase(), "noEffect"] as const),
]);

export const KNOWN_KEYS: readonly string[] = [...USED, ...ELSEWHERE, ...NO_EFFECT];

export function keyUse(key: string): KeyUse | "unknown" {
  return USES.get(key.toLowerCase()) ?? (CLIENT_RATE_LIMIT.test(key) ? "noEffect" : "unknown");
}
