/**
 * What one Service owns on the load balancer that serves it, and what it owns where it is not served: nothing, but for
 * frontends that others need, which the merge knows. Leaves to others which load balancer that is
 * (`get-service-load-balancer.ts`) and which public IPs it stands on (`public-ip/desired-public-ips.ts`).
 */
import type { Family, LoadBalancer, LoadBalancingRule, Frontend, Reference, Subnet } from "../../model/arm.ts";
import type { ClusterConfig, LoadBalancerLimits } from "../../config/cluster-config.ts";
import type { Service } from "../../model/kubernetes.ts";
import { baseOf, isServiceBase, ownPoolName, frontendName, namingOf } from "../../model/names.ts";
import type { Owner } from "../../outcome.ts";
import { desiredRules, poolOf } from "./desired-rules.ts";
import type { Disposable, HeldFrontend, LoadBalancerFragment, LoadBalancerShell } from "./fragment.ts";
import { frontendOf, loadBalancerIndex, partsOf, type LoadBalancerIndex } from "./load-balancer-index.ts";
import { canonicalAddress, contains, parseAddress, parseCidr } from "../../util/cidr.ts";
import { sameId, subnetId } from "../../model/ids.ts";
import type { ServiceIntent } from "../../intent/service-intent.ts";

export interface FrontendInput {
  readonly intent: ServiceIntent;
  readonly config: ClusterConfig;
  readonly seen: LoadBalancer | undefined;
  /** Those that the cluster may have frontends on besides; absent: none. */
  readonly others?: readonly LoadBalancer[];
  /** Ids of the public IPs to stand on; those of an external Service only. */
  readonly publicIPs: Readonly<Partial<Record<Family, string>>>;
  /** The subnet of an internal Service. */
  readonly subnet: Subnet | undefined;
  readonly zones: readonly string[];
  /** Addresses that the Service's status names. */
  readonly published: readonly string[];
  /** Private frontends of the Service's former incarnation, on which it goes on; absent: none. */
  readonly former?: readonly Frontend[];
}

export interface FragmentInput extends FrontendInput {
  /** Of the Service's families those to be served now. */
  readonly families: readonly Family[];
  readonly loadBalancer: { readonly id: string; readonly name: string };
  readonly disposable: Disposable | undefined;
  /** Does a Service with this base use this load balancer? */
  readonly isServedHere: (base: string) => boolean;
  /** Names, in lower case, of other Services' frontends at the addresses in the Service's status. */
  readonly standsOn: readonly string[];
  readonly held: readonly HeldFrontend[];
  readonly neighbours: readonly Service[];
  readonly limits: LoadBalancerLimits;
  readonly mayGoElsewhere?: boolean;
  /** What of the Service's former incarnation goes with a fragment of these rules; absent: nothing. */
  readonly leftOver?: (rules: readonly LoadBalancingRule[]) => Pick<LoadBalancerFragment, "replaces" | "releases">;
}

export function desiredLoadBalancer(input: FragmentInput): LoadBalancerFragment {
  const { intent, config, seen, loadBalancer, families } = input;
  const perFamily = families.map((family) => {
    const frontend = desiredFrontend(input, family);
    const parts = desiredRules({ intent, config, loadBalancerId: loadBalancer.id, family, frontend: frontend.name });
    return { frontend, ...parts };
  });
  const probes = new Map(perFamily.flatMap((one) => one.probes.map((probe) => [probe.name, probe])));
  const rules = perFamily.flatMap((one) => one.rules);
  const used = perFamily.map(({ frontend }) => frontend.name.toLowerCase());
  const { replaces = [], releases = [] } = input.leftOver?.(rules) ?? {};
  return {
    owner: intent.owner,
    shell: shellOf(config, loadBalancer),
    frontends: perFamily.flatMap(({ frontend }) => frontend.own ?? []),
    probes: [...probes.values()],
    rules,
    pools: intent.hasOwnPool && rules.length === 0 ? [] : families.map((family) => poolOf(intent, config, family)),
    ownPools: ownPoolsOf(intent.owner),
    releases: [...new Set([...releasesOf(seen, intent.owner, input), ...releases])].filter(
      (name) => !used.includes(name),
    ),
    ...(replaces.length > 0 && { replaces }),
    shares: used.filter((name) => baseOf(name) !== intent.owner.base.toLowerCase()),
    held: input.held,
    disposable: input.disposable,
    neighbours: input.neighbours,
    limits: input.limits,
    ...(input.mayGoElsewhere === true && { mayGoElsewhere: true }),
  };
}

export interface AbsenceInput {
  readonly owner: Owner;
  readonly seen: LoadBalancer;
  readonly disposable: Disposable | undefined;
  readonly isServedHere: (base: string) => boolean;
  readonly standsOn: readonly string[];
  readonly held: readonly HeldFrontend[];
  readonly neighbours: readonly Service[];
}

/** "Should not exist". */
export function absentLoadBalancer({ seen, isServedHere, standsOn, ...rest }: AbsenceInput): LoadBalancerFragment {
  const releases = releasesOf(seen, rest.owner, { isServedHere, standsOn });
  return {
    ...rest,
    shell: undefined,
    frontends: [],
    probes: [],
    rules: [],
    pools: [],
    ownPools: ownPoolsOf(rest.owner),
    releases,
  };
}

function ownPoolsOf({ key }: Owner): string[] {
  return [ownPoolName(key, "IPv4"), ownPoolName(key, "IPv6")];
}

function shellOf(config: ClusterConfig, { id, name }: { id: string; name: string }): LoadBalancerShell {
  const { location, sku, extendedLocation, tags, systemTags } = config;
  return {
    id,
    name,
    location,
    sku: { name: sku === "standard" ? "Standard" : "Basic" },
    ...(extendedLocation && { extendedLocation }),
    tags,
    systemTags,
  };
}

/**
 * Frontends that the Service's rules stand on, or that have an address of its status, although they are named after
 * another Service, and that other is not served here any more. A name that no Service could have is a person's frontend,
 * which is never the controller's to remove.
 */
function releasesOf(
  seen: LoadBalancer | undefined,
  owner: Owner,
  { isServedHere, standsOn }: Pick<FragmentInput, "isServedHere" | "standsOn">,
): readonly string[] {
  if (seen === undefined) return [];
  const rules = partsOf(loadBalancerIndex(seen), owner.base).rules;
  const used = rules.map(({ properties }) => frontendOf(properties.frontendIPConfiguration) ?? "");
  const names = new Set([...used, ...standsOn]);
  const own = owner.base.toLowerCase();
  return [...names].filter((name) => {
    const base = baseOf(name);
    return base !== own && isServiceBase(base) && !isServedHere(base);
  });
}

/** `own` is absent where the frontend is another's: the Service is secondary there, and only adds rules. */
interface DesiredFrontend {
  readonly name: string;
  readonly own: Frontend | undefined;
}

/**
 * The frontend that one Service asks for in one family: its own, or another owner's that already has the address.
 *
 *   private address           | where it comes from                            | allocation
 *   --------------------------|------------------------------------------------|-----------
 *   pinned                    | annotation or `spec.loadBalancerIP`            | Static
 *   kept                      | the Service's frontend, if still in the subnet | Static
 *   kept after a loss         | the Service's status, if in the subnet and     | Static
 *                             | no frontend of another has it                  |
 *   none of these             | Azure chooses                                  | Dynamic
 *
 * A frontend that is right stays as it is, Dynamic included: only the address is compared. Zones cannot be changed:
 * a frontend that replaces another keeps that one's, a new one gets all of the region's.
 */
export function desiredFrontend(input: FrontendInput, family: Family): DesiredFrontend {
  const index = input.seen && loadBalancerIndex(input.seen);
  const other = index && sharedFrontend(input, index, family);
  if (other !== undefined) return { name: other.name, own: undefined };
  const name = frontendName(namingOf(input.intent), family);
  const own = input.intent.scope === "external" ? external(input, family, name) : internal(input, family, name);
  return { name, own: own && withOptions(own, input.intent.frontendOptions) };
}

function withOptions(frontend: Frontend, { connectionTracking, gateway }: ServiceIntent["frontendOptions"]): Frontend {
  if (connectionTracking === undefined && gateway === undefined) return frontend;
  const properties = {
    ...frontend.properties,
    ...(connectionTracking !== undefined && { enableConnectionTracking: connectionTracking }),
    ...(gateway !== undefined && { gatewayLoadBalancer: gateway === "" ? undefined : { id: gateway } }),
  };
  return { ...frontend, properties };
}

/** A frontend that holds the Service's address already is the one to use, whatever its owner. */
function sharedFrontend(input: FrontendInput, index: LoadBalancerIndex, family: Family): Frontend | undefined {
  const { intent, publicIPs } = input;
  const pinned = intent.pinned[family];
  const holder =
    intent.scope === "external"
      ? index.byPublicIP.get((publicIPs[family] ?? "").toLowerCase())
      : pinned === undefined
        ? formerFrontend(input, family)
        : index.byPrivateAddress.get(canonicalAddress(pinned));
  return holder !== undefined && baseOf(holder.name) !== intent.owner.base.toLowerCase() ? holder : undefined;
}

/** In the subnet that the Service asks for. */
function formerFrontend({ intent, config, former = [] }: FrontendInput, family: Family): Frontend | undefined {
  return former.find(
    ({ properties }) =>
      (properties.privateIPAddressVersion ?? "IPv4") === family &&
      (intent.subnet === undefined || sameId(properties.subnet?.id, subnetId(config, intent.subnet))),
  );
}

function external({ publicIPs }: FrontendInput, family: Family, name: string): Frontend | undefined {
  const id = publicIPs[family];
  return id === undefined ? undefined : { name, properties: { publicIPAddress: { id } } };
}

function internal(input: FrontendInput, family: Family, name: string): Frontend {
  const { intent, config, seen } = input;
  const current = seen && loadBalancerIndex(seen).frontends.get(name.toLowerCase());
  const wantedSubnet = { id: subnetId(config, intent.subnet ?? config.subnetName) };
  // The config's default subnet says where new frontends go; it moves none that stands elsewhere.
  const subnet = intent.subnet === undefined ? (current?.properties.subnet ?? wantedSubnet) : wantedSubnet;
  const address = intent.pinned[family] ?? keptAddress(input, family, subnet);
  const zones = zonesOf(input, family);
  return {
    name,
    ...(zones !== undefined && { zones }),
    properties: {
      subnet: { id: subnet.id },
      ...(family === "IPv6" && { privateIPAddressVersion: "IPv6" }),
      ...(address === undefined
        ? { privateIPAllocationMethod: "Dynamic" }
        : { privateIPAllocationMethod: "Static", privateIPAddress: address }),
    },
  };
}

function keptAddress(input: FrontendInput, family: Family, subnet: Reference): string | undefined {
  const current = currentFrontends(input, family).map(({ properties }) => properties);
  const stays = current.find((one) => one.privateIPAddress !== undefined && sameId(one.subnet?.id, subnet.id));
  if (stays !== undefined) return stays.privateIPAddress;
  return input.published.find((address) => isInSubnet(address, family, input.subnet) && !isTaken(input, address));
}

function isInSubnet(address: string, family: Family, subnet: Subnet | undefined): boolean {
  const parsed = parseAddress(address);
  if (parsed === undefined || parsed.family !== family) return false;
  const { addressPrefix, addressPrefixes } = subnet?.properties ?? {};
  return [addressPrefix, ...(addressPrefixes ?? [])].some((prefix) => {
    const block = prefix === undefined ? undefined : parseCidr(prefix);
    return block !== undefined && !("problem" in block) && contains(block, parsed);
  });
}

/** Another's frontend has it by now, on whichever load balancer, whatever the Service's status says. */
function isTaken({ intent, seen, others = [] }: FrontendInput, address: string): boolean {
  return [...(seen ? [seen] : []), ...others].some((loadBalancer) => {
    const holder = loadBalancerIndex(loadBalancer).byPrivateAddress.get(canonicalAddress(address));
    return holder !== undefined && baseOf(holder.name) !== intent.owner.base.toLowerCase();
  });
}

function zonesOf(input: FrontendInput, family: Family): readonly string[] | undefined {
  const [current] = currentFrontends(input, family);
  if (current !== undefined) return current.zones;
  const { config, zones } = input;
  const isZonal = config.sku === "standard" && config.extendedLocation === undefined && !config.azureStack;
  return isZonal && zones.length > 0 ? zones : undefined;
}

/** The private frontends that the Service has in this family, under whatever name. */
function currentFrontends({ intent, seen }: FrontendInput, family: Family): readonly Frontend[] {
  if (seen === undefined) return [];
  return partsOf(loadBalancerIndex(seen), intent.owner.base).frontends.filter(
    ({ properties }) => (properties.privateIPAddressVersion ?? "IPv4") === family,
  );
}
