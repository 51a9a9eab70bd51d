/**
 * Puts one network interface, scale set or instance into pools and takes it out of others. Pools that no fragment
 * names stay, and so does everything else of the body.
 *
 *   resource         | ipConfiguration in an IPv4 pool               | in an IPv6 pool
 *   -----------------|-----------------------------------------------|------------------------------------
 *   networkInterface | first IPv4 ipConfiguration                    | first IPv6 one
 *   scaleSet         | primary, or only, one of the primary interface | first IPv6 one of the primary interface
 *   instance         | the same                                      | the same
 */
import type { Reference } from "../../model/arm.ts";
import { parseId, sameId } from "../../model/ids.ts";
import { answersOf, type Merged } from "../../outcome.ts";
import type { NicPoolsFragment, PoolRef } from "./fragment.ts";
import type {
  Instance,
  InterfaceConfiguration,
  InterfaceConfigurations,
  IPConfiguration,
  NetworkInterface,
  ScaleSet,
} from "../../backends/compute.ts";

export type Attachable = NetworkInterface | ScaleSet | Instance;

export function isNetworkInterface(body: Attachable): body is NetworkInterface {
  return parseId(body.id)?.type.toLowerCase() === "networkinterfaces";
}

export function isScaleSet(body: Attachable): body is ScaleSet {
  return parseId(body.id)?.type.toLowerCase() === "virtualmachinescalesets";
}

export function isInstance(body: Attachable): body is Instance {
  return parseId(body.id)?.type.toLowerCase() === "virtualmachinescalesets/virtualmachines";
}

export function mergeNicPools(
  seen: Attachable | undefined,
  fragments: readonly NicPoolsFragment[],
): Merged<Attachable> {
  const kind = fragments[0]?.resource;
  const body = seen && kind && attached(seen, kind, fragments);
  const outcome = body === undefined || body === seen ? { kind: "unchanged" as const } : { kind: "put" as const, body };
  return { outcome, answers: answersOf(fragments) };
}

/** Is one of its ipConfigurations in the pool now? */
export function isAttached(body: Attachable, resource: NicPoolsFragment["resource"], pool: string): boolean {
  return configurationsIn(body, resource).some((configuration) => isMemberOf(configuration, pool));
}

export function poolsOf(body: Attachable, resource: NicPoolsFragment["resource"]): readonly string[] {
  return configurationsIn(body, resource).flatMap(({ properties }) =>
    (properties.loadBalancerBackendAddressPools ?? []).map(({ id }) => id),
  );
}

function configurationsIn(body: Attachable, resource: NicPoolsFragment["resource"]): readonly IPConfiguration[] {
  if (resource === "networkInterface") return (body as NetworkInterface).properties.ipConfigurations ?? [];
  const interfaces = interfacesIn(body, resource)?.networkInterfaceConfigurations ?? [];
  return interfaces.flatMap(({ properties }) => properties.ipConfigurations ?? []);
}

function interfacesIn(body: Attachable, resource: NicPoolsFragment["resource"]): InterfaceConfigurations | undefined {
  return resource === "scaleSet"
    ? (body as ScaleSet).properties.virtualMachineProfile?.networkProfile
    : (body as Instance).properties.networkProfileConfiguration;
}

function attached(
  body: Attachable,
  resource: NicPoolsFragment["resource"],
  fragments: readonly NicPoolsFragment[],
): Attachable {
  const join = fragments.flatMap((fragment) => fragment.join);
  const leave = fragments
    .flatMap((fragment) => fragment.leave)
    .filter(({ pool }) => !join.some((one) => sameId(one.pool, pool)));
  if (resource === "networkInterface") {
    const { properties } = body as NetworkInterface;
    const before = properties.ipConfigurations ?? [];
    const after = withPools(before, join, leave, chosenOfInterface);
    return after === before
      ? body
      : { ...(body as NetworkInterface), properties: { ...properties, ipConfigurations: after } };
  }
  const before = interfacesIn(body, resource);
  const after = before && withPoolsOfInterfaces(before, join, leave);
  return after === undefined || after === before ? body : withInterfaces(body, resource, after);
}

function withInterfaces(
  body: Attachable,
  resource: NicPoolsFragment["resource"],
  networkProfile: InterfaceConfigurations,
): Attachable {
  if (resource === "scaleSet") {
    const { properties } = body as ScaleSet;
    const virtualMachineProfile = { ...properties.virtualMachineProfile, networkProfile };
    return { ...(body as ScaleSet), properties: { ...properties, virtualMachineProfile } };
  }
  // What the instance does at the moment is Azure's to say, and cannot be written.
  const { instanceView: _, ...properties } = (body as Instance).properties;
  return { ...(body as Instance), properties: { ...properties, networkProfileConfiguration: networkProfile } };
}

function withPoolsOfInterfaces(
  profile: InterfaceConfigurations,
  join: readonly PoolRef[],
  leave: readonly PoolRef[],
): InterfaceConfigurations {
  const interfaces = profile.networkInterfaceConfigurations ?? [];
  const primary = interfaces.find(({ properties }) => properties.primary === true) ?? interfaces[0];
  const after = interfaces.map((one): InterfaceConfiguration => {
    const before = one.properties.ipConfigurations ?? [];
    const configurations = withPools(before, one === primary ? join : [], leave, chosenOfMachine);
    return configurations === before
      ? one
      : { ...one, properties: { ...one.properties, ipConfigurations: configurations } };
  });
  const isSame = after.every((one, at) => one === interfaces[at]);
  return isSame ? profile : { ...profile, networkInterfaceConfigurations: after };
}

type Chooser = (configurations: readonly IPConfiguration[], ref: PoolRef) => IPConfiguration | undefined;

function chosenOfInterface(
  configurations: readonly IPConfiguration[],
  { family }: PoolRef,
): IPConfiguration | undefined {
  return configurations.find(({ properties }) => (properties.privateIPAddressVersion ?? "IPv4") === family);
}

function chosenOfMachine(configurations: readonly IPConfiguration[], ref: PoolRef): IPConfiguration | undefined {
  if (ref.family === "IPv6") return chosenOfInterface(configurations, ref);
  const primary = configurations.find(({ properties }) => properties.primary === true);
  return primary ?? (configurations.length === 1 ? configurations[0] : chosenOfInterface(configurations, ref));
}

/** Answers the list itself where nothing changes. */
function withPools(
  configurations: readonly IPConfiguration[],
  join: readonly PoolRef[],
  leave: readonly PoolRef[],
  choose: Chooser,
): readonly IPConfiguration[] {
  const isIn = (pool: string): boolean => configurations.some((configuration) => isMemberOf(configuration, pool));
  const joins = join
    .filter(({ pool }) => !isIn(pool))
    .map((ref) => ({ pool: ref.pool, by: choose(configurations, ref) }));
  const after = configurations.map((configuration) => {
    const pools = configuration.properties.loadBalancerBackendAddressPools ?? [];
    const stay = pools.filter(({ id }) => !leave.some(({ pool }) => sameId(pool, id)));
    const come: Reference[] = joins.filter(({ by }) => by === configuration).map(({ pool }) => ({ id: pool }));
    if (stay.length === pools.length && come.length === 0) return configuration;
    const properties = { ...configuration.properties, loadBalancerBackendAddressPools: [...stay, ...come] };
    return { ...configuration, properties };
  });
  return after.every((configuration, at) => configuration === configurations[at]) ? configurations : after;
}

function isMemberOf({ properties }: IPConfiguration, pool: string): boolean {
  return (properties.loadBalancerBackendAddressPools ?? []).some(({ id }) => sameId(id, pool));
}
