/**
 * The linked permissions of a write: Resource Manager requires a join action on each resource that the body references.
 *
 *   field with an `id` in it              | action
 *   --------------------------------------|-----------------------------------------------------------
 *   publicIPAddress                       | Microsoft.Network/publicIPAddresses/join/action
 *   publicIPPrefix                        | Microsoft.Network/publicIPPrefixes/join/action
 *   subnet                                | Microsoft.Network/virtualNetworks/subnets/join/action
 *   virtualNetwork (of a backend pool)    | Microsoft.Network/virtualNetworks/joinLoadBalancer/action
 *   loadBalancerBackendAddressPools       | Microsoft.Network/loadBalancers/backendAddressPools/join/action
 *   networkSecurityGroup                  | Microsoft.Network/networkSecurityGroups/join/action
 *   loadBalancerFrontendIpConfigurations  | Microsoft.Network/loadBalancers/frontendIPConfigurations/join/action
 */
import type { Access } from "./role.ts";

const JOINS = new Map([
  ["publicIPAddress", "publicIPAddresses/join"],
  ["publicIPPrefix", "publicIPPrefixes/join"],
  ["subnet", "virtualNetworks/subnets/join"],
  ["virtualNetwork", "virtualNetworks/joinLoadBalancer"],
  ["loadBalancerBackendAddressPools", "loadBalancers/backendAddressPools/join"],
  ["networkSecurityGroup", "networkSecurityGroups/join"],
  ["loadBalancerFrontendIpConfigurations", "loadBalancers/frontendIPConfigurations/join"],
]);
const WRITES = ["PUT", "PATCH"];

/** An unreadable body needs none: the model refuses it later. */
export function linkedAccesses(method: string, text: string): readonly Access[] {
  if (!WRITES.includes(method)) return [];
  const found: Access[] = [];
  try {
    JSON.parse(text, (key, value: unknown) => {
      const action = JOINS.get(key);
      for (const id of action === undefined ? [] : idsOf(value))
        found.push({ action: `Microsoft.Network/${action}/action`, scope: id });
      return value;
    });
  } catch {
    return [];
  }
  return found;
}

function idsOf(value: unknown): string[] {
  return [value].flat().flatMap((item) => {
    const { id } = (item ?? {}) as { id?: unknown };
    return typeof id === "string" ? [id] : [];
  });
}
