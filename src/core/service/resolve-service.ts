/**
 * What a Service asks for, placed: on which load balancer, with which public IPs, and the addresses that come of it.
 * Everything that the phases of `ensure-service.ts` read.
 */
import { PLACEMENT } from "../intent/annotations/placement.ts";
import { PRIVATE_LINK } from "../intent/annotations/private-link.ts";
import { keyText } from "../config/cluster-config.ts";
import type { Family } from "../model/arm.ts";
import {
  addressesOfMembers,
  desiredBackendPool,
  isOwnEntry,
  isPreConfigured,
  membersOf,
} from "../resources/backend-pool/desired-backend-pool.ts";
import { nodesOf } from "../resources/backend-pool/arranged-nodes.ts";
import { whyNoMembers } from "../backends/eligible-nodes.ts";
import { canonicalAddress } from "../util/cidr.ts";
import type { Ingress } from "../model/kubernetes.ts";
import { loadBalancerPartId, nameOfId, sameId } from "../model/ids.ts";
import { externalName, isInternalName } from "../model/names.ts";
import {
  absentLoadBalancer,
  desiredLoadBalancer,
  desiredFrontend,
  type FrontendInput,
} from "../resources/load-balancer/desired-load-balancer.ts";
import type { LoadBalancerFragment } from "../resources/load-balancer/fragment.ts";
import { getServiceLoadBalancer, type Placement } from "../resources/load-balancer/get-service-load-balancer.ts";
import { limitsOf } from "../resources/load-balancer/limits.ts";
import { loadBalancerIndex } from "../resources/load-balancer/load-balancer-index.ts";
import { keepsPublicIP, mergeLoadBalancer } from "../resources/load-balancer/merge-load-balancer.ts";
import type { DesiredPrivateLink } from "../resources/private-link-service/desired-private-link-service.ts";
import type { DesiredPublicIP } from "../resources/public-ip/desired-public-ip.ts";
import {
  type DesiredPublicIPs,
  desiredPublicIPs,
  untaggedPublicIPs,
} from "../resources/public-ip/desired-public-ips.ts";
import { SERVICE_TAG } from "../model/tags.ts";
import type { ServiceAddresses } from "../resources/security-group/fragment.ts";
import type { Observed } from "../observed.ts";
import { formerFrontends, leftOver } from "./former-parts.ts";
import { judgeJoined } from "./joined-addresses.ts";
import { movingFrom, resolvePrivateLink } from "./private-links.ts";
import { addressesOn, formerAddresses, frontendsOf, publishedAddresses } from "./service-parts.ts";
import { loadBalancersLeftTo, surroundingsOn } from "./surroundings.ts";
import type { ServiceIntent } from "../intent/service-intent.ts";
import type { Owner, Rejection, Warning } from "../outcome.ts";
import { refuseTakenAddresses, refuseTakenLabel, refuseTakenPorts } from "./refuse-taken.ts";

export interface ResolvedService {
  readonly observed: Observed;
  readonly intent: ServiceIntent;
  readonly warnings: readonly Warning[];
  readonly placement: Placement;
  readonly publicIPs: DesiredPublicIPs;
  /** `undefined`: none is asked for. */
  readonly privateLink: DesiredPrivateLink | undefined;
}

export function resolveService(
  observed: Observed,
  intent: ServiceIntent,
  warnings: readonly Warning[],
): ResolvedService | Rejection {
  const missing = subnetsOf(observed, intent).find((name) => isSubnetMissing(observed, name));
  if (missing !== undefined) return refuseSubnet(observed, intent, missing);
  if (isGroupMissing(observed, intent)) return refuseGroup(observed, intent);
  const taken = refuseTakenAddresses(observed, intent);
  if (taken !== undefined) return taken;
  const placed = getServiceLoadBalancer(observed, intent);
  if ("kind" in placed) return placed;
  const placement = leavingAll(observed, placed);
  const publicIPs = desiredPublicIPs(observed, intent);
  if ("kind" in publicIPs) return publicIPs;
  const takenLabel = refuseTakenLabel(observed, intent, publicIPs.uses);
  if (takenLabel !== undefined) return takenLabel;
  const stuck = refuseStuckMove(observed, intent.owner, placement, publicIPs.uses);
  if (stuck !== undefined) return stuck;
  const joined = judgeJoined(observed, intent, publicIPs.uses);
  if (joined.kind === "rejection") return joined;
  const unlinked = { observed, intent, warnings, placement, publicIPs, privateLink: undefined };
  const privateLink = privateLinkOf(unlinked);
  if (privateLink?.kind === "rejection") return privateLink;
  const resolved: ResolvedService = { ...unlinked, privateLink };
  const addresses = intent.families.flatMap((family) => addressOf(resolved, family) ?? intent.pinned[family] ?? []);
  const takenPorts = refuseTakenPorts({ observed, intent, placement, addresses });
  if (takenPorts !== undefined) return takenPorts;
  const told = [...warnings, ...joined.warnings, ...warnOfNoNodes(resolved), ...warnOfUntagged(resolved)];
  return withPossibleReplacements({ ...resolved, warnings: told });
}

/** Load balancers of the same kind where only a frontend is left to the Service are to be left first, too. */
function leavingAll(observed: Observed, placement: Placement): Placement {
  const { name, movedFrom } = placement;
  const left = loadBalancersLeftTo(observed).filter(
    (one) => isInternalName(one.name) === isInternalName(name) && one.name !== name && !movedFrom.includes(one),
  );
  return left.length === 0 ? placement : { ...placement, movedFrom: [...movedFrom, ...left] };
}

function privateLinkOf(placed: ResolvedService): DesiredPrivateLink | Rejection | undefined {
  const { observed, intent, placement } = placed;
  const { owner, privateLink: link } = intent;
  if (link === undefined) return undefined;
  return resolvePrivateLink({ observed, owner, link, frontend: linkedFrontend(placed), loadBalancer: placement.seen });
}

/** The frontend that a private link service stands on. */
function linkedFrontend(resolved: ResolvedService): { readonly id: string; readonly name: string } {
  const { name } = desiredFrontend(frontendInput(resolved), "IPv4");
  return { id: loadBalancerPartId(resolved.placement.id, "frontendIPConfigurations", name), name };
}

/** Without the tag it counts as a person's, whose it is cannot be told. */
function warnOfUntagged({ observed, intent, publicIPs }: ResolvedService): Warning[] {
  const used = untaggedPublicIPs(observed, intent.owner).filter(({ id }) =>
    publicIPs.uses.some((use) => sameId(use.id, id)),
  );
  return used.map(({ name }) => ({
    reason: "PublicIPNotTagged",
    message:
      `public IP "${name}" has no tag ${SERVICE_TAG}: it is used as it is and stays when this Service goes. If it should ` +
      `go with it, give it the tag ${SERVICE_TAG}=${intent.owner.key}`,
  }));
}

/** Under the incumbent's name: the Service has addresses, but no node answers there. */
function warnOfNoNodes(resolved: ResolvedService): Warning[] {
  const { nodes, config } = resolved.observed;
  const isEmpty = (family: Family): boolean => membershipOf(resolved, family).members.length === 0;
  const empty =
    resolved.placement.seen === undefined && config.loadBalancers.length > 0
      ? []
      : resolved.intent.families.filter(isEmpty);
  return empty.map((family) => ({
    reason: "UnAvailableLoadBalancer",
    message: `nobody answers this Service over ${family}: ${whyNoMembers(nodes, config, family)}`,
  }));
}

/** A public IP whose frontend others need cannot be replaced: it is used as it is. */
function withPossibleReplacements(resolved: ResolvedService): ResolvedService {
  const { observed, intent, placement, publicIPs, warnings } = resolved;
  const stuck = publicIPs.uses.filter(
    (use) => use.mustBeReplaced && !isFreeable(observed, intent.owner, placement, use),
  );
  if (stuck.length === 0) return resolved;
  const isStuck = (id: string): boolean => stuck.some((use) => sameId(use.id, id));
  const told = stuck.map(({ id }): Warning => ({
    reason: "PublicIPNotReplaced",
    message: `public IP "${nameOfId(id)}" cannot be replaced by one with other IP tags: something else uses its frontend`,
  }));
  const uses = publicIPs.uses.map((use) => (isStuck(use.id) ? { ...use, mustBeReplaced: false } : use));
  const releases = publicIPs.releases.filter(({ seen }) => !isStuck(seen.id));
  return { ...resolved, publicIPs: { uses, releases }, warnings: [...warnings, ...told] };
}

function isFreeable(observed: Observed, owner: Owner, { seen, name }: Placement, { id }: DesiredPublicIP): boolean {
  const holders = observed.loadBalancers.filter((one) => loadBalancerIndex(one).byPublicIP.has(id.toLowerCase()));
  if (seen === undefined || holders.length === 0) return holders.length === 0;
  const absence = absentLoadBalancer({ owner, seen, ...surroundingsOn(observed, { name, seen }) });
  return holders.every((one) => one === seen) && !keepsPublicIP(seen, absence, id);
}

/** A Service leaves a load balancer only with its addresses: a frontend that others need holds them there. */
function refuseStuckMove(
  observed: Observed,
  owner: Owner,
  { movedFrom, name }: Placement,
  uses: readonly DesiredPublicIP[],
): Rejection | undefined {
  for (const seen of movedFrom) {
    const absence = absentLoadBalancer({ owner, seen, ...surroundingsOn(observed, { name: seen.name, seen }) });
    if (!uses.some(({ id }) => keepsPublicIP(seen, absence, id))) continue;
    const [answer] = mergeLoadBalancer(seen, [absence]).answers;
    const why = answer?.kind === "accepted" ? answer.warnings.map(({ message }) => `: ${message}`).join("") : "";
    const message =
      `it cannot move from load balancer "${seen.name}" to "${name}"${why}. Give the others another address first, or let ` +
      `it be placed on "${externalName(seen.name)}" (annotation ${PLACEMENT.configurations.key}, labels)`;
    return { kind: "rejection", reason: "FrontendShared", message };
  }
  return undefined;
}

function subnetName({ config }: Pick<Observed, "config">, intent: ServiceIntent): string {
  return intent.subnet ?? config.subnetName;
}

/** Names of the subnets that the Service has addresses in, or its private link service. */
export function subnetsOf(observed: Pick<Observed, "config">, intent: ServiceIntent): string[] {
  const own = intent.scope === "internal" ? [subnetName(observed, intent)] : [];
  return [...own, ...(intent.privateLink === undefined ? [] : [intent.privateLink.subnet])];
}

function subnetOf(observed: Observed, intent: ServiceIntent) {
  return intent.scope === "internal" ? observed.subnets.get(subnetName(observed, intent)) : undefined;
}

/** It was read, and it isn't there. */
function isSubnetMissing({ subnets }: Observed, name: string): boolean {
  return subnets.has(name) && subnets.get(name) === undefined;
}

function refuseSubnet(observed: Observed, intent: ServiceIntent, name: string): Rejection {
  const message = refusedNetwork(observed) ?? refusedSubnet(observed, intent, name);
  return { kind: "rejection", reason: "SubnetNotFound", message };
}

function refusedNetwork({ config, missingNetwork }: Observed): string | undefined {
  const { vnetName, vnetResourceGroup } = config;
  switch (missingNetwork) {
    case "network":
      return (
        `${keyText("vnetName", config)}: there is no VNet "${vnetName}" in resource group "${vnetResourceGroup}": ` +
        "correct vnetName, or vnetResourceGroup"
      );
    case "resourceGroup":
      return (
        `${keyText("vnetResourceGroup", config)}: resource group "${vnetResourceGroup}" does not exist: name the one that ` +
        `VNet "${vnetName}" is in, or remove the key, which stands for "${config.resourceGroup}"`
      );
    case undefined:
      return undefined;
  }
}

function refusedSubnet(observed: Observed, intent: ServiceIntent, name: string): string {
  const { vnetName } = observed.config;
  return `${whereFrom(observed, intent, name)}: VNet "${vnetName}" has no subnet "${name}": ${subnetsText(observed)}`;
}

function whereFrom({ config }: Observed, { subnet, privateLink }: ServiceIntent, name: string): string {
  if (name === subnet) return `annotation ${PLACEMENT.internalSubnet.key}`;
  const isOfLink = privateLink?.details.includes(PRIVATE_LINK.subnet.key) === true && privateLink.subnet === name;
  return isOfLink ? `annotation ${PRIVATE_LINK.subnet.key}` : keyText("subnetName", config);
}

function isGroupMissing({ missingGroups }: Observed, { publicIPs, publicIPResourceGroup }: ServiceIntent): boolean {
  const needsGroup = Object.keys(publicIPs).length > 0;
  return needsGroup && missingGroups?.has(publicIPResourceGroup.toLowerCase()) === true;
}

function refuseGroup({ config }: Observed, { publicIPResourceGroup }: ServiceIntent): Rejection {
  const message =
    `annotation ${PLACEMENT.resourceGroup.key}: resource group "${publicIPResourceGroup}" does not exist: create it, name one ` +
    `that exists, or remove the annotation, which stands for "${config.resourceGroup}"`;
  return { kind: "rejection", reason: "ResourceGroupNotFound", message };
}

/** An event is a sentence or two; a VNet may have thousands. */
const MOST_SUBNETS = 10;

function subnetsText({ subnetNames }: Observed): string {
  if (subnetNames === undefined) return "name one that it has";
  if (subnetNames.length === 0) return "there is none in it";
  const named = subnetNames.slice(0, MOST_SUBNETS).map((name) => `"${name}"`);
  const more = subnetNames.length - named.length;
  return `name one that it has (${named.join(", ")}${more > 0 ? ` and ${more} more` : ""})`;
}

/** The fragment for these families; a family that waits for its public IP to be replaced is left out. */
export function fragmentOf(resolved: ResolvedService, families: readonly Family[]): LoadBalancerFragment {
  const { observed, intent, placement, privateLink } = resolved;
  const surroundings = surroundingsOn(observed, placement);
  const moving = privateLink === undefined ? [] : movingFrom(privateLink, linkedFrontend(resolved).id);
  const fragment = desiredLoadBalancer({
    ...frontendInput(resolved),
    families,
    loadBalancer: placement,
    ...surroundings,
    held: [...surroundings.held, ...moving],
    limits: limitsOf(observed, placement.name),
    mayGoElsewhere: placement.mayGoElsewhere === true,
    intent,
    leftOver: (rules) => leftOver(observed, intent.owner, placement.seen, rules),
  });
  const pools = placement.seen && loadBalancerIndex(placement.seen).pools;
  const isMaking = fragment.pools.some((name) => pools?.has(name.toLowerCase()) !== true);
  if (!isMaking || !isPreConfigured(observed.config, placement.name)) return fragment;
  return { ...fragment, records: observed.nodes.map(({ metadata }) => metadata.name) };
}

function frontendInput({ observed, intent, placement, publicIPs }: ResolvedService): FrontendInput {
  return {
    intent,
    config: observed.config,
    seen: placement.seen,
    publicIPs: Object.fromEntries(publicIPs.uses.map(({ family, id }) => [family, id])),
    subnet: subnetOf(observed, intent),
    zones: observed.zones,
    published: publishedAddresses(observed),
    former: intent.scope === "internal" ? formerFrontends(observed, intent.owner, placement.seen) : [],
  };
}

/** The address of each family as Azure has it; `undefined` while it has none. */
export function addressOf(resolved: ResolvedService, family: Family): string | undefined {
  const { intent, placement, publicIPs } = resolved;
  if (intent.scope === "external")
    return publicIPs.uses.find((use) => use.family === family)?.seen?.properties.ipAddress;
  const { name } = desiredFrontend(frontendInput(resolved), family);
  return (
    placement.seen && loadBalancerIndex(placement.seen).frontends.get(name.toLowerCase())?.properties.privateIPAddress
  );
}

/** In the order of the families, whatever that of the load balancer is; then the additional ones. */
export function ingressOf(resolved: ResolvedService): Ingress[] {
  const addresses = resolved.intent.families.flatMap((family) => addressOf(resolved, family) ?? []);
  const all = new Set([...addresses, ...resolved.intent.additionalPublicIPs]);
  return [...all].map((ip) => ({ ip, ipMode: "VIP" }));
}

/**
 * The addresses as the security group needs them. An address that the Service leaves is closed at once if nothing
 * stands there any more; `all` closes those too that still serve while the new side is being built.
 */
export function accessAddresses(resolved: ResolvedService, released: "dead" | "all"): ServiceAddresses {
  const current = perFamily(resolved, (family) => [addressOf(resolved, family) ?? []].flat());
  const nodes = perFamily(resolved, (family) => addressesOfMembers(membershipOf(resolved, family)));
  const kept = new Set(
    [...current.IPv4, ...current.IPv6, ...resolved.intent.additionalPublicIPs].map(canonicalAddress),
  );
  const serving = servingAddresses(resolved);
  const gone = [...formerAddresses(resolved.observed), ...formerNodes(resolved)];
  const left = released === "all" ? [...gone, ...serving] : gone.filter((address) => !serving.includes(address));
  return { current, nodes, released: [...new Set(left)].filter((address) => !kept.has(address)) };
}

/** Stand for addresses that Azure has not given yet. */
const UNKNOWN: Readonly<Record<Family, string>> = { IPv4: "192.0.2.1", IPv6: "2001:db8::1" };

/** The addresses as they are going to be, as far as it matters for the room that they take. */
export function foreseenAddresses(resolved: ResolvedService): ServiceAddresses {
  const { nodes, released } = accessAddresses(resolved, "dead");
  const current = perFamily(resolved, (family) => [
    addressOf(resolved, family) ?? resolved.intent.pinned[family] ?? UNKNOWN[family],
  ]);
  return { current, nodes, released };
}

function perFamily(
  { intent: { families } }: ResolvedService,
  list: (family: Family) => readonly string[],
): Record<Family, readonly string[]> {
  return {
    IPv4: families.includes("IPv4") ? list("IPv4") : [],
    IPv6: families.includes("IPv6") ? list("IPv6") : [],
  };
}

/** Where the Service can still be reached, whether it stays there or not. */
function servingAddresses({ observed, intent, placement, publicIPs }: ResolvedService): string[] {
  const present = placement.seen === undefined ? placement.flippedFrom : [placement.seen, ...placement.flippedFrom];
  const frontends = present.flatMap((seen) => frontendsOf(seen, intent.owner.base));
  const publics = publicIPs.releases.flatMap(({ seen }) => seen.properties.ipAddress ?? []);
  return [...addressesOn(observed, frontends), ...publics.map(canonicalAddress)];
}

/** The nodes that the Service's traffic may be sent to. */
function membershipOf({ observed, intent, placement }: ResolvedService, family: Family) {
  const { config, nodes } = observed;
  const arranged = intent.hasOwnPool ? nodes : nodesOf(observed, placement.name);
  return desiredBackendPool({ config, nodes, arranged, known: membersOf(observed, placement.seen) }, family);
}

/** Nodes that are about to leave the pools: where traffic is sent to nodes themselves, they must be closed too. */
function formerNodes(resolved: ResolvedService): string[] {
  const { intent, placement } = resolved;
  if (intent.floatingIP && !(intent.scope === "internal" && intent.families.includes("IPv6"))) return [];
  const memberships = [membershipOf(resolved, "IPv4"), membershipOf(resolved, "IPv6")];
  const current = new Set(memberships.flatMap(addressesOfMembers).map(canonicalAddress));
  const pools = placement.seen?.properties.backendAddressPools ?? [];
  return pools
    .flatMap(({ properties }) => properties.loadBalancerBackendAddresses ?? [])
    .filter((entry) => memberships.some(({ own }) => isOwnEntry(entry, own)))
    .map(({ properties }) => canonicalAddress(properties.ipAddress ?? ""))
    .filter((address) => address !== "" && !current.has(address));
}
