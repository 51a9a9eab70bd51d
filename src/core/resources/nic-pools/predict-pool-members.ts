/** How Azure will show pools of network interfaces: it lists in a pool the ipConfigurations that have joined it. */
import type { Compute, IPConfiguration } from "../../backends/compute.ts";
import type { LoadBalancer, Reference } from "../../model/arm.ts";

/** The load balancers with the members that the machines name. */
export function predictPoolMembers(loadBalancers: readonly LoadBalancer[], compute: Compute): LoadBalancer[] {
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

/** Every ipConfiguration of every machine, and the pools that it names. */
export function* ipConfigurationsOf(compute: Compute): Generator<{ id: string; pools: string[] }> {
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
