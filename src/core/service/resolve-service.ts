/**
 * What a Service asks for, placed: on which load balancer, with which public IPs, and the addresses that come of it.
 * Everything that the phases of `ensure-service.ts` read. What is refused stands in `refuse-*.ts`, what the security rules need
 * in `access-addresses.ts`.
 */
import { PLACEMENT } from "../intent/annotations/placement.ts";
import type { Family } from "../model/arm.ts";
import { desiredBackendPool, isPreConfigured, membersOf } from "../resources/backend-pool/desired-backend-pool.ts";
import { nodesOf } from "../resources/backend-pool/arranged-nodes.ts";
import { whyNoMembers } from "../backends/eligible-nodes.ts";
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
import type { Observed } from "../observed.ts";
import { formerFrontends, leftOver } from "./former-parts.ts";
import { judgeJoined } from "./joined-addresses.ts";
import { movingFrom, resolvePrivateLink } from "./private-links.ts";
import { publishedAddresses } from "./service-parts.ts";
import { loadBalancersLeftTo, surroundingsOn } from "./surroundings.ts";
import type { ServiceIntent } from "../intent/service-intent.ts";
import type { Owner, Rejection, Warning } from "../outcome.ts";
import { refuseMissing, subnetOf } from "./refuse-missing.ts";
import { refuseTakenAddresses, refuseTakenLabel, refuseTakenPorts } from "./refuse-taken.ts";

export interface ResolvedService {
  readonly observed: Observed;
  readonly intent: ServiceIntent;
  readonly warnings: readonly Warning[];
  readonly placement: Placement;
  readonly publicIPs: DesiredPublicIPs;
  /** `undefined`: none is asked for. */
  readonly privateLink: DesiredPrivateLink | undefined;
  /** Another Service has one of its ports: it keeps what it has, and nothing may be written for it. */
  readonly takenPorts: Rejection | undefined;
}

export function resolveService(
  observed: Observed,
  intent: ServiceIntent,
  warnings: readonly Warning[],
): ResolvedService | Rejection {
  const missing = refuseMissing(observed, intent);
  if (missing !== undefined) return missing;
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
  const unlinked = { observed, intent, warnings, placement, publicIPs, privateLink: undefined, takenPorts: undefined };
  const privateLink = privateLinkOf(unlinked);
  if (privateLink?.kind === "rejection") return privateLink;
  const resolved: ResolvedService = { ...unlinked, privateLink };
  const addresses = intent.families.flatMap((family) => addressOf(resolved, family) ?? intent.pinned[family] ?? []);
  const takenPorts = refuseTakenPorts({ observed, intent, placement, addresses });
  const told = [...warnings, ...joined.warnings, ...warnOfNoNodes(resolved), ...warnOfUntagged(resolved)];
  return withPossibleReplacements({ ...resolved, warnings: told, takenPorts });
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
    others: observed.loadBalancers,
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

/** The nodes that the Service's traffic may be sent to. */
export function membershipOf({ observed, intent, placement }: ResolvedService, family: Family) {
  const { config, nodes } = observed;
  const isShared = config.loadBalancers.length > 0 && !intent.hasOwnPool;
  const arranged = isShared ? nodesOf(observed, placement.name) : nodes;
  return desiredBackendPool({ config, nodes, arranged, known: membersOf(observed, placement.seen) }, family);
}
