/**
 * How Azure will show what we write: ids and references back that it adds, defaults that it fills in, addresses that it
 * gives. Only as far as decisions and plans look at it; the addresses are placeholders that nobody owns.
 */
import type { Family, Frontend, LoadBalancer, PublicIP, Reference, Subnet } from "../model/arm.ts";
import type { Compute, IPConfiguration } from "../backends/compute.ts";
import { formatAddress, parseCidr } from "../util/cidr.ts";
import { loadBalancerPartId, nameOfId, sameId } from "../model/ids.ts";
import { indexOf } from "../resources/load-balancer/load-balancer-index.ts";
import { md5 } from "../util/md5.ts";

/** Reserved for benchmarks and documentation: no real address is among them. */
const PLACEHOLDER_BLOCKS: Readonly<Record<Family, string>> = { IPv4: "198.18.0.0/15", IPv6: "2001:db8::/64" };
/** Used where the subnet is not known. */
const PRIVATE_BLOCKS: Readonly<Record<Family, string>> = { IPv4: "10.255.0.0/16", IPv6: "fd00::/64" };
const PLACES = 65_536;

export function predictedPublicIP(body: PublicIP): PublicIP {
  const family = body.properties.publicIPAddressVersion === "IPv6" ? "IPv6" : "IPv4";
  return {
    ...body,
    properties: {
      idleTimeoutInMinutes: 4,
      ipAddress: placeIn(PLACEHOLDER_BLOCKS[family], placeOf(body.id)),
      ...body.properties,
    },
  };
}

/** Every public IP names the frontend that it stands on, and no other. */
export function attachPublicIPs(publicIPs: readonly PublicIP[], loadBalancers: readonly LoadBalancer[]): PublicIP[] {
  return publicIPs.map((publicIP) => {
    const attached = publicIP.properties.ipConfiguration;
    const holder = loadBalancers
      .map((loadBalancer) => indexOf(loadBalancer).byPublicIP.get(publicIP.id.toLowerCase()))
      .find((frontend) => frontend !== undefined);
    if (holder?.id !== undefined) {
      const properties = { ...publicIP.properties, ipConfiguration: { id: holder.id } };
      return sameId(attached?.id, holder.id) ? publicIP : { ...publicIP, properties };
    }
    if (attached === undefined || !attached.id.toLowerCase().includes("/loadbalancers/")) return publicIP;
    const { ipConfiguration: _, ...properties } = publicIP.properties;
    return { ...publicIP, properties };
  });
}

export function predictedLoadBalancer(body: LoadBalancer, subnets: ReadonlyMap<string, Subnet | null>): LoadBalancer {
  const { properties } = body;
  const rules = properties.loadBalancingRules ?? [];
  const references = new Map<string, Reference[]>();
  for (const rule of rules) {
    const frontend = rule.properties.frontendIPConfiguration?.id.toLowerCase() ?? "";
    const reference = { id: loadBalancerPartId(body.id, "loadBalancingRules", rule.name) };
    references.set(frontend, [...(references.get(frontend) ?? []), reference]);
  }
  const frontends = properties.frontendIPConfigurations ?? [];
  return {
    ...body,
    properties: {
      ...properties,
      frontendIPConfigurations: frontends.map((frontend) => {
        const id = frontend.id ?? loadBalancerPartId(body.id, "frontendIPConfigurations", frontend.name);
        return predictedFrontend({ ...frontend, id }, references.get(id.toLowerCase()), subnets);
      }),
      backendAddressPools: (properties.backendAddressPools ?? []).map((pool) => ({
        id: loadBalancerPartId(body.id, "backendAddressPools", pool.name),
        ...pool,
      })),
      loadBalancingRules: rules.map((rule) => ({
        id: loadBalancerPartId(body.id, "loadBalancingRules", rule.name),
        ...rule,
        properties: { enableTcpReset: false, ...rule.properties },
      })),
      probes: (properties.probes ?? []).map((probe) => ({
        id: loadBalancerPartId(body.id, "probes", probe.name),
        ...probe,
      })),
    },
  };
}

/** Pools list the interfaces that joined them, as the machines say. */
export function withInterfaces(loadBalancers: readonly LoadBalancer[], compute: Compute): LoadBalancer[] {
  const members = new Map<string, Reference[]>();
  for (const { id, pools } of ipConfigurationsOf(compute)) {
    for (const pool of pools) members.set(pool, [...(members.get(pool) ?? []), { id }]);
  }
  return loadBalancers.map((loadBalancer) => {
    const pools = (loadBalancer.properties.backendAddressPools ?? []).map((pool) => {
      const { backendIPConfigurations: _, ...properties } = pool.properties;
      const joined = members.get((pool.id ?? "").toLowerCase());
      return { ...pool, properties: { ...properties, ...(joined && { backendIPConfigurations: joined }) } };
    });
    return { ...loadBalancer, properties: { ...loadBalancer.properties, backendAddressPools: pools } };
  });
}

function* ipConfigurationsOf(compute: Compute): Generator<{ id: string; pools: string[] }> {
  const poolsOf = ({ properties }: IPConfiguration): string[] =>
    (properties.loadBalancerBackendAddressPools ?? []).map(({ id }) => id.toLowerCase());
  for (const { id, properties } of compute.networkInterfaces.values()) {
    for (const one of properties.ipConfigurations ?? []) {
      yield { id: one.id ?? `${id}/ipConfigurations/${one.name}`, pools: poolsOf(one) };
    }
  }
  for (const { id, properties } of compute.instances.values()) {
    for (const { name, properties: of } of properties.networkProfileConfiguration?.networkInterfaceConfigurations ??
      []) {
      for (const one of of.ipConfigurations ?? []) {
        yield { id: `${id}/networkInterfaces/${name}/ipConfigurations/${one.name}`, pools: poolsOf(one) };
      }
    }
  }
}

function predictedFrontend(
  frontend: Frontend & { readonly id: string },
  rules: readonly Reference[] | undefined,
  subnets: ReadonlyMap<string, Subnet | null>,
): Frontend {
  const { loadBalancingRules: _, ...properties } = frontend.properties;
  const { subnet, privateIPAddress, privateIPAddressVersion } = properties;
  const isUnaddressed = subnet !== undefined && privateIPAddress === undefined;
  const family = privateIPAddressVersion === "IPv6" ? "IPv6" : "IPv4";
  return {
    ...frontend,
    properties: {
      privateIPAllocationMethod: "Dynamic",
      ...properties,
      ...(isUnaddressed && {
        privateIPAddress: placeIn(blockOf(subnets.get(nameOfId(subnet.id)), family), placeOf(frontend.id)),
      }),
      ...(rules && { loadBalancingRules: rules }),
    },
  };
}

function blockOf(subnet: Subnet | null | undefined, family: Family): string {
  const { addressPrefix, addressPrefixes = [] } = subnet?.properties ?? {};
  const isOfFamily = (prefix: string | undefined): prefix is string =>
    prefix !== undefined && prefix.includes(":") === (family === "IPv6");
  return [addressPrefix, ...addressPrefixes].find(isOfFamily) ?? PRIVATE_BLOCKS[family];
}

/** The same resource always gets the same place; not the first ones, which Azure keeps for itself. */
function placeOf(id: string): number {
  return 256 + (Number.parseInt(md5(id.toLowerCase()).slice(0, 8), 16) % (PLACES - 512));
}

function placeIn(block: string, place: number): string {
  const cidr = parseCidr(block);
  if ("problem" in cidr) return block;
  const bits = (cidr.family === "IPv4" ? 32 : 128) - cidr.length;
  const offset = bits >= 16 ? place : place % 2 ** bits;
  return formatAddress({ family: cidr.family, value: cidr.value + BigInt(offset) });
}
