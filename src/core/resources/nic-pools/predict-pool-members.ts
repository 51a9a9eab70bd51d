/** How Azure will show pools of network interfaces: it lists in a pool the ipConfigurations that have joined it. */
import type { Compute, IPConfiguration } from "../../backends/compute.ts";
import type { LoadBalancer, Reference } from "../../model/arm.ts";
import type { NicPoolsFragment } from "./fragment.ts";
import { type Attachable, isInstance, isNetworkInterface, isScaleSet, mergeNicPools } from "./merge-nic-pools.ts";

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

/** The machines once Azure has taken those out of the pool that are in it; itself where there are none. */
export function withoutPool(compute: Compute, pool: string): Compute {
  const leave = [{ pool, family: "IPv4" as const }];
  const left = <Body extends Attachable>(
    bodies: ReadonlyMap<string, Body>,
    resource: NicPoolsFragment["resource"],
    isOne: (one: Attachable) => one is Attachable & Body,
  ): ReadonlyMap<string, Body> => {
    const after = [...bodies].map(([id, body]): [string, Body] => {
      const { outcome } = mergeNicPools(body, [{ resource, join: [], leave }]);
      return [id, outcome.kind === "put" && isOne(outcome.body) ? outcome.body : body];
    });
    return after.every(([id, body]) => bodies.get(id) === body) ? bodies : new Map(after);
  };
  const networkInterfaces = left(compute.networkInterfaces, "networkInterface", isNetworkInterface);
  const scaleSets = left(compute.scaleSets, "scaleSet", isScaleSet);
  const instances = left(compute.instances, "instance", isInstance);
  const isSame =
    networkInterfaces === compute.networkInterfaces &&
    scaleSets === compute.scaleSets &&
    instances === compute.instances;
  return isSame ? compute : { ...compute, networkInterfaces, scaleSets, instances };
}
