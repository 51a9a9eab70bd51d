/**
 * References between resources. Each resource says what it refers to; everything that the other side shows
 * about it (a pool's NIC members, a public address's `ipConfiguration`, a subnet's users) is looked up here,
 * so the two sides cannot disagree.
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
 *   privateLinkSubnet| private link service          | subnet         | nothing; it holds the target fast
 *   gateway          | frontend                      | frontend       | nothing; it holds the target fast
 *   globalMember     | pool of a global LB           | frontend       | nothing; it holds the target fast
 *   scaleSetModel    | scale set                     | pool, NSG, …   | nothing; it holds the target fast
 *   healthProbe      | scale set                     | probe          | nothing; it holds the target fast
 *   network          | pool, member                  | VNet, subnet   | nothing; it holds the target fast
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
  | "gateway"
  | "globalMember"
  | "scaleSetModel"
  | "healthProbe"
  | "network";

export interface Reference {
  readonly kind: ReferenceKind;
  /** Canonical id of what refers: a resource, or a child such as a frontend. */
  readonly from: string;
  /** Key of what is referred to. */
  readonly to: string;
  /** The private address that goes with an `address` reference. */
  readonly address?: string;
}

/** A reference as its target sees it. */
export interface Referrer extends Reference {
  /** Order of creation of what refers: lists of referrers follow it. */
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
