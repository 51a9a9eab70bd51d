/**
 * How Azure will show a load balancer that we write: ids and references back that it adds, defaults that it fills in,
 * private addresses that it gives. Only as far as decisions and plans read it.
 */
import type { Family, Frontend, LoadBalancer, Reference, Subnet } from "../../model/arm.ts";
import { loadBalancerPartId, nameOfId, sameId } from "../../model/ids.ts";
import type { ObservedAzure } from "../observed-azure.ts";
import { placeholderAddress } from "../placeholder-address.ts";

/** Used where the subnet is not known. */
const PRIVATE_BLOCKS: Readonly<Record<Family, string>> = { IPv4: "10.255.0.0/16", IPv6: "fd00::/64" };

export function predictLoadBalancer(
  body: LoadBalancer,
  { loadBalancers, subnets }: Pick<ObservedAzure, "loadBalancers" | "subnets">,
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
  const others = loadBalancers.filter(({ id }) => !sameId(id, body.id)).flatMap(frontendsOf);
  const taken = new Set(frontends.some(isUnaddressed) ? [...others, ...frontends].flatMap(privateAddressOf) : []);
  return {
    ...body,
    properties: {
      ...properties,
      frontendIPConfigurations: frontends.map((frontend) => {
        const id = frontend.id ?? loadBalancerPartId(body.id, "frontendIPConfigurations", frontend.name);
        return predictedFrontend({ ...frontend, id }, references.get(id.toLowerCase()), subnets, taken);
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

function frontendsOf({ properties }: LoadBalancer): readonly Frontend[] {
  return properties.frontendIPConfigurations ?? [];
}

function privateAddressOf({ properties: { privateIPAddress } }: Frontend): string[] {
  return privateIPAddress === undefined ? [] : [privateIPAddress];
}

function isUnaddressed({ properties: { subnet, privateIPAddress } }: Frontend): boolean {
  return subnet !== undefined && privateIPAddress === undefined;
}

/** Adds the address that it gives to `taken`. */
function predictedFrontend(
  frontend: Frontend & { readonly id: string },
  rules: readonly Reference[] | undefined,
  subnets: ReadonlyMap<string, Subnet | undefined>,
  taken: Set<string>,
): Frontend {
  const { loadBalancingRules: _, ...properties } = frontend.properties;
  const { subnet, privateIPAddress, privateIPAddressVersion } = properties;
  const family = privateIPAddressVersion === "IPv6" ? "IPv6" : "IPv4";
  const block = subnet && blockOf(subnets.get(nameOfId(subnet.id)), family);
  const address = privateIPAddress ?? (block === undefined ? undefined : placeholderAddress(block, frontend.id, taken));
  if (address !== undefined) taken.add(address);
  return {
    ...frontend,
    properties: {
      privateIPAllocationMethod: "Dynamic",
      ...properties,
      ...(address !== undefined && { privateIPAddress: address }),
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
