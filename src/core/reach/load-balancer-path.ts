/**
 * What a packet to a frontend meets in a load balancer: the frontend of an address, the rule of a port, the probe and the
 * members of the rule's pool, each found by what the others refer to.
 */
import { adminStateOf, type NodeFinder } from "../admin-state/reconcile-admin-state.ts";
import { nodeAddress } from "../backends/eligible-nodes.ts";
import type {
  BackendAddress,
  BackendPool,
  Frontend,
  LoadBalancer,
  LoadBalancingRule,
  Probe,
  PublicIP,
  SecurityGroup,
} from "../model/arm.ts";
import { nameOfId, sameId } from "../model/ids.ts";
import type { Node } from "../model/kubernetes.ts";
import { type Address, canonicalAddress, type Cidr, type Family, parseAddress } from "../util/cidr.ts";

/** What the way depends on: a command's own look at Azure gives it, and the controller's memory. */
export interface Surroundings {
  readonly loadBalancers: readonly LoadBalancer[];
  readonly publicIPs: readonly PublicIP[];
  readonly securityGroup: SecurityGroup | undefined;
  readonly nodeOf: NodeFinder;
  /** Blocks that are known to be of the virtual network. */
  readonly network: readonly Cidr[];
}

export interface Place {
  readonly loadBalancer: LoadBalancer;
  readonly frontend: Frontend;
}

export function findFrontend({ loadBalancers, publicIPs }: Surroundings, address: string): Place | undefined {
  const addressOf = ({ properties }: Frontend): string | undefined =>
    properties.privateIPAddress ??
    publicIPs.find(({ id }) => sameId(id, properties.publicIPAddress?.id))?.properties.ipAddress;
  for (const loadBalancer of loadBalancers) {
    const frontends = loadBalancer.properties.frontendIPConfigurations ?? [];
    const frontend = frontends.find((one) => canonicalAddress(addressOf(one) ?? "") === canonicalAddress(address));
    if (frontend !== undefined) return { loadBalancer, frontend };
  }
  return undefined;
}

export function ruleOf(
  { loadBalancer, frontend }: Place,
  { port, protocol }: { readonly port: number; readonly protocol: string },
): LoadBalancingRule | undefined {
  const own = (loadBalancer.properties.loadBalancingRules ?? []).filter(({ properties }) => {
    return isReferred(frontend, properties.frontendIPConfiguration?.id);
  });
  const fits = ({ properties }: LoadBalancingRule): boolean =>
    properties.protocol.toUpperCase() === protocol && properties.frontendPort === port;
  return own.find(fits) ?? own.find(({ properties }) => properties.protocol.toLowerCase() === "all");
}

export interface Member {
  readonly name: string;
  readonly node: Node | undefined;
  readonly address: Address | undefined;
  readonly isDown: boolean;
}

export function membersOf(
  { nodeOf }: Surroundings,
  { loadBalancer }: Place,
  rule: LoadBalancingRule,
  family: Family,
): Member[] {
  const poolId = rule.properties.backendAddressPool?.id;
  const pool = (loadBalancer.properties.backendAddressPools ?? []).find((one) => isReferred(one, poolId));
  return entriesOf(pool).map((entry) => {
    const node = nodeOf(entry);
    const address = entry.properties.ipAddress ?? (node && nodeAddress(node, family)) ?? "";
    const name = node?.metadata.name ?? (address || entry.name);
    return { name, node, address: parseAddress(address), isDown: adminStateOf(entry) === "Down" };
  });
}

/** Basic shows members of pools of network interfaces by reference only. */
function entriesOf(pool: BackendPool | undefined): readonly BackendAddress[] {
  const { loadBalancerBackendAddresses = [], backendIPConfigurations = [] } = pool?.properties ?? {};
  if (loadBalancerBackendAddresses.length > 0) return loadBalancerBackendAddresses;
  return backendIPConfigurations.map((networkInterfaceIPConfiguration) => ({
    name: nameOfId(networkInterfaceIPConfiguration.id),
    properties: { networkInterfaceIPConfiguration },
  }));
}

export function probeOf({ properties }: LoadBalancer, rule: LoadBalancingRule): Probe | undefined {
  return (properties.probes ?? []).find((probe) => isReferred(probe, rule.properties.probe?.id));
}

/** Parts of one load balancer refer to each other by id, which Azure alone gives. */
function isReferred(
  { id, name }: { readonly id?: string; readonly name: string },
  reference: string | undefined,
): boolean {
  if (reference === undefined) return false;
  return sameId(id, reference) || nameOfId(reference).toLowerCase() === name.toLowerCase();
}
