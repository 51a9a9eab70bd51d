/**
 * The Azure resources that exist when a history starts: the emulator's example cluster, with a dual-stack network, public
 * IPs of users, and, with Basic load balancers (one per availability set), virtual machines in two availability sets.
 */
import { SANDBOX_ACCOUNT } from "../../sandbox/azure/identity/account.ts";
import { foreignResources } from "../../sandbox/azure/seed/foreign.ts";
import { seedScopeOf, type SeedResource } from "../../sandbox/azure/seed/scope.ts";
import { topologyResources, type Sku, type Topology } from "../../sandbox/azure/seed/topology.ts";
import { OTHER_GROUP, SECOND_VM_SET, USERS_PUBLIC_IPS } from "../actions/service-templates.ts";

export function resourcesOf(topology: Topology): SeedResource[] {
  const { network, location, group } = seedScopeOf(SANDBOX_ACCOUNT);
  const publicIPs = USERS_PUBLIC_IPS.map((name) => ({
    path: `${network}/publicIPAddresses/${name}`,
    body: { ...publicIPOf(topology.sku, location), tags: { owner: "a user" } },
  }));
  const machines = topologyResources(SANDBOX_ACCOUNT, topology).map(withIPv6);
  return [
    ...(topology.sku === "basic" ? inTwoSets(machines) : machines),
    ...(topology.foreign ? foreignResources(SANDBOX_ACCOUNT, topology) : []),
    { path: group.replace(/[^/]+$/, OTHER_GROUP), body: { location } },
    ...publicIPs,
  ];
}

/** A public IP for load balancers of that SKU. */
export function publicIPOf(sku: Sku, location: string): Readonly<Record<string, unknown>> {
  return {
    location,
    sku: { name: sku === "basic" ? "Basic" : "Standard" },
    properties: { publicIPAllocationMethod: "Static", publicIPAddressVersion: "IPv4" },
  };
}

/** Makes the cluster's virtual network dual-stack. */
function withIPv6({ path, body }: SeedResource): SeedResource {
  if (!path.includes("/virtualNetworks/")) return { path, body };
  const { properties, ...rest } = body as { properties: { subnets: { name: string; properties: object }[] } };
  const subnets = properties.subnets.map(({ name, properties: { addressPrefix, ...more } }: Subnet, at) => ({
    name,
    properties: { ...more, addressPrefixes: [addressPrefix, `fd00:10:${240 + at}::/64`] },
  }));
  const addressSpace = { addressPrefixes: ["10.240.0.0/12", "fd00:10::/32"] };
  return { path, body: { ...rest, properties: { ...properties, addressSpace, subnets } } };
}

interface Subnet {
  readonly name: string;
  readonly properties: { readonly addressPrefix?: string };
}

/** Whether a node's machine is in the second availability set. */
export function isInSecondSet(node: string): boolean {
  return /^agent-\d*[13579]$/.test(node);
}

function inTwoSets(resources: readonly SeedResource[]): SeedResource[] {
  return resources.flatMap(({ path, body }) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (path.includes("/availabilitySets/"))
      return [
        { path, body },
        { path: path.replace(/[^/]+$/, SECOND_VM_SET), body },
      ];
    if (!path.includes("/virtualMachines/") || !isInSecondSet(name)) return { path, body };
    const { properties, ...rest } = body as { properties: { availabilitySet: { id: string } } };
    const availabilitySet = { id: properties.availabilitySet.id.replace(/[^/]+$/, SECOND_VM_SET) };
    return { path, body: { ...rest, properties: { ...properties, availabilitySet } } };
  });
}
