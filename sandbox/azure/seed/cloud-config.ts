/**
 * The `azure.json` of the seeded cluster. It has a service principal that the emulator accepts, and enables managed
 * identity too: a Go client cannot sign in with a secret offline, but finds the managed-identity endpoint in its
 * environment (`guestEnvironment`).
 */
import type { Account } from "../identity/account.ts";
import { IDENTITY_ENDPOINT_PATH } from "../identity/managed-identity.ts";
import { AZURE_LIMITS, type Limits } from "../model/options.ts";
import { NAMES } from "./scope.ts";
import type { Topology } from "./topology.ts";

export type CloudConfig = Readonly<Record<string, string | boolean>>;

export interface Reach {
  /** HTTPS endpoint of the emulated Resource Manager and of the sign-in authority. */
  readonly armEndpoint: string;
  /** Plain-HTTP listener: managed identity. */
  readonly plainUrl: string;
  readonly caFile: string;
}

export function cloudConfigOf(account: Account, topology: Topology, { armEndpoint, caFile }: Reach): CloudConfig {
  const primary =
    topology.vmType === "standard"
      ? { primaryAvailabilitySetName: NAMES.availabilitySet }
      : { primaryScaleSetName: NAMES.scaleSet };
  return {
    cloud: "AzureCloud",
    resourceManagerEndpoint: armEndpoint,
    caFile,
    tenantId: account.tenantId,
    subscriptionId: account.subscriptionId,
    aadClientId: account.clientId,
    aadClientSecret: account.clientSecret,
    useManagedIdentityExtension: true,
    resourceGroup: account.resourceGroup,
    location: account.location,
    vnetName: NAMES.virtualNetwork,
    vnetResourceGroup: account.resourceGroup,
    subnetName: NAMES.subnet,
    securityGroupName: NAMES.securityGroup,
    securityGroupResourceGroup: account.resourceGroup,
    loadBalancerSku: topology.sku,
    loadBalancerBackendPoolConfigurationType: topology.backendPool,
    vmType: topology.vmType,
    ...primary,
  };
}

/** Limits above Azure's own, so that the controller under test does not keep to Azure's. */
export function raisedLimits(limits: Partial<Limits>): CloudConfig {
  const names = {
    frontends: "frontendsPerLoadBalancer",
    rules: "rulesPerLoadBalancer",
    rulesPerInterface: "rulesPerNic",
    backends: "backendIpConfigurationsPerLoadBalancer",
  } as const;
  const raised = Object.entries(names).flatMap(([name, limit]) => {
    const value = limits[limit] ?? 0;
    return value > AZURE_LIMITS[limit] ? [`${name}=${value}`] : [];
  });
  return raised.length === 0 ? {} : { loadBalancerLimits: raised.join(",") };
}

/** Environment variables with which another controller trusts the emulator and signs in. */
export function guestEnvironment(account: Account, reach: Reach): Record<string, string> {
  return {
    IDENTITY_ENDPOINT: `${reach.plainUrl}${IDENTITY_ENDPOINT_PATH}`,
    IDENTITY_HEADER: account.identityHeader,
    AZURE_AUTHORITY_HOST: reach.armEndpoint,
    NODE_EXTRA_CA_CERTS: reach.caFile,
    SSL_CERT_FILE: reach.caFile,
  };
}
