/**
 * References between resources. Each resource stores its own references; what the target shows about them (a pool's NIC
 * members, a public address's `ipConfiguration`, a subnet's users) is derived from these, so the two sides cannot disagree.
 *
 *   kind             | from                          | to             | the target shows it as
 *   -----------------|-------------------------------|----------------|-------------------------------
 *   publicIp         | frontend, NIC configuration   | public IP      | ipConfiguration
 *   publicIpPrefix   | public IP                     | prefix         | publicIPAddresses
 *   frontendPrefix   | frontend                      | prefix         | loadBalancerFrontendIpConfiguration
 *   address          | anything with a private IP    | subnet         | ipConfigurations
 *   poolMember       | NIC configuration             | backend pool   | members, backendIPConfigurations
 *   natTarget        | NIC configuration             | NAT rule       | backendIPConfiguration
 *   securityGroup    | subnet, NIC                   | NSG            | subnets, networkInterfaces
 *   virtualMachine   | VM                            | NIC            | virtualMachine
 *   availabilitySet  | VM                            | AS             | virtualMachines
 *   scaleSetMember   | instance, flexible VM         | scale set      | sku.capacity
 *   privateLink      | private link service          | frontend       | privateLinkServices
 *   privateLinkNic   | private link service          | NIC            | privateLinkService
 *   privateLinkSubnet| private link service, endpoint| subnet         | nothing; it blocks its deletion
 *   privateEndpoint  | private endpoint              | private link s.| privateEndpointConnections, stored there
 *   privateEndpointNic | private endpoint            | NIC            | privateEndpoint
 *   gateway          | frontend                      | frontend       | nothing; it blocks its deletion
 *   globalMember     | pool of a global LB           | frontend       | nothing; it blocks its deletion
 *   scaleSetModel    | scale set                     | pool, NSG, …   | nothing; it blocks its deletion
 *   healthProbe      | scale set                     | probe          | nothing; it blocks its deletion
 *   network          | pool, member                  | VNet, subnet   | nothing; it blocks its deletion
 */
export type ReferenceKind =
  | "publicIp"
  | "publicIpPrefix"
  | "frontendPrefix"
  | "address"
  | "poolMember"
  | "natTarget"
  | "securityGroup"
  | "virtualMachine"
  | "availabilitySet"
  | "scaleSetMember"
  | "privateLink"
  | "privateLinkNic"
  | "privateLinkSubnet"
  | "privateEndpoint"
  | "privateEndpointNic"
  | "gateway"
  | "globalMember"
  | "scaleSetModel"
  | "healthProbe"
  | "network";

export interface Reference {
  readonly kind: ReferenceKind;
  /** Canonical id of the referrer: a resource, or a child such as a frontend. */
  readonly from: string;
  /** Key of the target. */
  readonly to: string;
  /** The private address of an `address` reference. */
  readonly address?: string;
}

/** A reference as its target sees it. */
export interface Referrer extends Reference {
  /** Order of creation of the referrer, by which referrers are listed. */
  readonly order: number;
}

const INVISIBLE: ReadonlySet<ReferenceKind> = new Set([
  "privateLinkSubnet",
  "gateway",
  "globalMember",
  "scaleSetModel",
  "healthProbe",
  "network",
]);

/** Whether the target shows the reference, so that its ETag changes with it. */
export function isVisible(kind: ReferenceKind): boolean {
  return !INVISIBLE.has(kind);
}
