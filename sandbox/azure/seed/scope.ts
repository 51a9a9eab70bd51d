/** Names and id prefixes of the seeded resources. */
import type { Account } from "../identity/account.ts";

export const NAMES = {
  virtualNetwork: "vnet",
  subnet: "subnet",
  secondSubnet: "subnet2",
  securityGroup: "nsg",
  scaleSet: "vmss",
  availabilitySet: "agents",
} as const;

/** One PUT. */
export interface SeedResource {
  readonly path: string;
  readonly body: unknown;
}

/** Id prefixes and region for the resources of a seed. */
export interface SeedScope {
  readonly group: string;
  readonly network: string;
  readonly compute: string;
  readonly location: string;
}

export function seedScopeOf({ subscriptionId, resourceGroup, location }: Account): SeedScope {
  const group = `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}`;
  return {
    group,
    network: `${group}/providers/Microsoft.Network`,
    compute: `${group}/providers/Microsoft.Compute`,
    location,
  };
}
