/**
 * How Azure will show a load balancer that we write: ids and references back that it adds, defaults that it fills in,
 * private addresses that it gives. Only as far as decisions and plans read it.
 */
import type { Family, Frontend, LoadBalancer, Reference, Subnet } from "../../model/arm.ts";
import { loadBalancerPartId, nameOfId } from "../../model/ids.ts";
import { placeholderAddress } from "../placeholder-address.ts";

/** Used where the subnet is not known. */
const PRIVATE_BLOCKS: Readonly<Record<Family, string>> = { IPv4: "10.255.0.0/16", IPv6: "fd00::/64" };

export function predictLoadBalancer(
  body: LoadBalancer,
  subnets: ReadonlyMap<string, Subnet | undefined>,
): LoadBalancer {
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

function predictedFrontend(
  frontend: Frontend & { readonly id: string },
  rules: readonly Reference[] | undefined,
  subnets: ReadonlyMap<string, Subnet | undefined>,
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
        privateIPAddress: placeholderAddress(blockOf(subnets.get(nameOfId(subnet.id)), family), frontend.id),
      }),
      ...(rules && { loadBalancingRules: rules }),
    },
  };
}

function blockOf(subnet: Subnet | undefined, family: Family): string {
  const { addressPrefix, addressPrefixes = [] } = subnet?.properties ?? {};
  const isOfFamily = (prefix: string | undefined): prefix is string =>
    prefix !== undefined && prefix.includes(":") === (family === "IPv6");
  return [addressPrefix, ...addressPrefixes].find(isOfFamily) ?? PRIVATE_BLOCKS[family];
}
