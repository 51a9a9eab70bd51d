/**
 * The phases of a Service that should be served: each finds its part right, or asks for one round. The new side is built
 * and published before the old one goes.
 */
import type { Frontend, LoadBalancer } from "../model/arm.ts";
import { ownPoolWarnings, poolWarnings, reconcileOwnPools, reconcilePoolsOf } from "../resources/reconcile-pools.ts";
import type { Ingress } from "../model/kubernetes.ts";
import type { LoadBalancerFragment } from "../resources/load-balancer/fragment.ts";
import { foreseeOverflow } from "../resources/load-balancer/limits.ts";
import { frontendOf, loadBalancersWith } from "../resources/load-balancer/load-balancer-index.ts";
import { isAtAddress } from "../resources/load-balancer/parts.ts";
import { reconcileLoadBalancer } from "../resources/load-balancer/merge-load-balancer.ts";
import type { Warning } from "../outcome.ts";
import type { Decision } from "../steps.ts";
import type { DesiredPublicIP } from "../resources/public-ip/desired-public-ip.ts";
import { securityGroupId } from "../model/ids.ts";
import { baseOfPublicIP } from "../model/names.ts";
import { listsService, servicesOf } from "../model/tags.ts";
import { boundPublicIPs } from "../resources/public-ip/desired-public-ips.ts";
import { reconcilePublicIP } from "../resources/public-ip/merge-public-ip.ts";
import { SETTLED, together } from "../resources/reconciled.ts";
import { reconcileOwnNames } from "../resources/security-group/own-names.ts";
import { reconcileSecurityGroup, releaseSomeAddresses } from "../resources/security-group/reconcile-security-group.ts";
import {
  finalAppliedState,
  changingState,
  markChangingFirst,
  isChanged,
  isChangedItself,
  readAppliedState,
} from "./applied-state.ts";
import { ensureLink, releaseLinks } from "./private-links.ts";
import { leaveLoadBalancers, givePublicIPsBack } from "./release-service.ts";
import { addressesOn, formerAddresses, frontendsOf } from "./service-parts.ts";
import { loadBalancersLeftTo } from "./surroundings.ts";
import { FINALIZER } from "../intent/ownership.ts";
import { act, firstRound, isAzureStep, type Phase, reject, roundOf, wait } from "./rounds.ts";
import { accessAddresses, foreseenAddresses } from "./access-addresses.ts";
import { addressOf, fragmentOf, ingressOf, type ResolvedService } from "./resolve-service.ts";

const holdFinalizer: Phase<ResolvedService> = ({ observed: { service } }) =>
  service.metadata.finalizers?.includes(FINALIZER)
    ? undefined
    : act([{ kind: "addFinalizer", why: "a finalizer, so that nothing of it is left in Azure when it goes" }]);

/** A public IP that can never be what is asked for makes way for another of its name; its address is lost. */
const replacePublicIPs: Phase<ResolvedService> = (resolved) => {
  const { observed, intent, publicIPs, placement } = resolved;
  const replaced = publicIPs.uses.filter(({ mustBeReplaced }) => mustBeReplaced);
  if (replaced.length === 0) return undefined;
  const released = replaced.flatMap(({ seen }) => seen?.properties.ipAddress ?? []);
  const ready = publicIPs.uses.filter(({ seen, mustBeReplaced }) => seen !== undefined && !mustBeReplaced);
  const families = ready.map(({ family }) => family);
  const leaveFrontends: Phase<ResolvedService> = () =>
    placement.seen && leaveAllBut(resolved, placement.seen, families);
  const releases = publicIPs.releases.filter(({ seen }) => replaced.some(({ id }) => id === seen.id));
  return firstRound(
    [
      () => roundOf(releaseSomeAddresses(observed, intent.owner, released)),
      leaveFrontends,
      () => givePublicIPsBack(releases),
    ],
    resolved,
  );
};

/** Frontends of other families go. Where none is left, the Service leaves the load balancer, which may go with it. */
function leaveAllBut(
  resolved: ResolvedService,
  seen: LoadBalancer,
  families: ResolvedService["intent"]["families"],
): Decision | undefined {
  const { observed, intent } = resolved;
  if (families.length === 0) return leaveLoadBalancers(observed, intent.owner, [seen]);
  const fragment = fragmentOf(resolved, families);
  return (
    releaseLinks(observed, intent.owner, seen, fragment) ?? roundOf(reconcileLoadBalancer(seen.id, seen, fragment))
  );
}

const makePublicIPs: Phase<ResolvedService> = (resolved) => {
  const round = publicIPRound(resolved);
  return round?.kind === "act" ? (foreseenRefusal(resolved) ?? round) : round;
};

const publicIPRound: Phase<ResolvedService> = ({ publicIPs, warnings }) =>
  roundOf(together(publicIPs.uses.map(({ id, seen, fragment }) => reconcilePublicIP(id, seen, fragment))), warnings);

/** A Service that its load balancer or the security group is going to refuse gets no public IP, and is told at once. */
function foreseenRefusal(resolved: ResolvedService): Decision | undefined {
  const { observed, intent, placement } = resolved;
  const fragment = fragmentOf(resolved, intent.families);
  const joining = reconcileLoadBalancer(placement.id, placement.seen, fragment);
  if (joining.kind === "reject") return reject(joining.rejection);
  const isNew = placement.seen === undefined || frontendsOf(placement.seen, intent.owner.base).length === 0;
  const full = isNew && fragment.frontends.length > 0 ? foreseeOverflow(observed, intent, placement) : undefined;
  if (full !== undefined) return reject(full);
  const access = reconcileSecurityGroup(observed, intent, foreseenAddresses(resolved), { changed: true });
  return access.kind === "reject" ? reject(access.rejection) : undefined;
}

/**
 * Addresses that were opened but never told, and that the next write of the load balancer takes from the Service: once
 * its frontend has another one, nothing says any more that it was open for it.
 */
const closeUntoldAddresses: Phase<ResolvedService> = (resolved) => {
  const { observed, intent, placement } = resolved;
  const told = new Set(formerAddresses(observed));
  const isUntold = (frontend: Frontend): boolean => addressesOn(observed, [frontend]).some((ip) => !told.has(ip));
  const untold = placement.seen === undefined ? [] : frontendsOf(placement.seen, intent.owner.base).filter(isUntold);
  const left = leftWithNextWrite(resolved, untold);
  if (left.length === 0) return undefined;
  return roundOf(releaseSomeAddresses(observed, intent.owner, addressesOn(observed, left)));
};

/** Those of the frontends that are not the Service's any more, or not at their address, once it has joined its load balancer. */
function leftWithNextWrite(resolved: ResolvedService, present: readonly Frontend[]): readonly Frontend[] {
  if (present.length === 0) return [];
  const { frontends, rules, shares = [] } = fragmentOf(resolved, resolved.intent.families);
  const wanted = new Map(frontends.map((frontend) => [frontend.name.toLowerCase(), frontend]));
  const used = new Set([...rules.map(({ properties }) => frontendOf(properties.frontendIPConfiguration)), ...shares]);
  return present.filter((frontend) => {
    const name = frontend.name.toLowerCase();
    const own = wanted.get(name);
    return own === undefined ? !used.has(name) : !isAtAddress(frontend, own);
  });
}

/**
 * Told addresses that the next writes take from the Service, and that no public IP's tag tells to be its own. They are
 * closed after that, but the type of the Service may change before, and the API server then empties its status. So their
 * rules get the Service's name first. Where the config changed and not the Service, nothing is written ahead of what the
 * brake may withhold.
 */
const nameRulesOfLeftAddresses: Phase<ResolvedService> = (resolved) => {
  const { observed, intent, placement } = resolved;
  const { owner } = intent;
  if (!isChangedItself(observed.service)) return undefined;
  const told = new Set(formerAddresses(observed));
  if (told.size === 0) return undefined;
  const present = placement.seen === undefined ? [] : frontendsOf(placement.seen, owner.base);
  const moved = placement.movedFrom.flatMap((seen) => frontendsOf(seen, owner.base));
  const bound = new Set(boundPublicIPs(observed, owner).map(({ properties }) => properties.ipAddress));
  const left = addressesOn(observed, [...moved, ...leftWithNextWrite(resolved, present)]);
  const unnamed = left.filter((address) => told.has(address) && !bound.has(address));
  const naming = unnamed.length === 0 ? undefined : roundOf(reconcileOwnNames(observed, owner, unnamed));
  return naming?.kind === "act" ? (foreseenRefusal(resolved) ?? naming) : undefined;
};

/** One address cannot stand on two load balancers: another of the same kind is left first. */
const leaveFormerLoadBalancers: Phase<ResolvedService> = (resolved) => {
  const { observed, intent, placement } = resolved;
  if (placement.movedFrom.length === 0) return undefined;
  const leaving = leaveLoadBalancers(observed, intent.owner, placement.movedFrom, placement.name);
  return leaving && (foreseenRefusal(resolved) ?? leaving);
};

/**
 * Where the addresses are known and this Service's alone, its security rules are written along: it saves the wait for a
 * write, and opens nothing but what the Service has to itself. On a shared address it waits until the ports are
 * granted.
 */
const joinLoadBalancer: Phase<ResolvedService> = (resolved) => {
  const { observed, intent, placement } = resolved;
  const fragment = fragmentOf(resolved, intent.families);
  const joining = roundOf(reconcileLoadBalancer(placement.id, placement.seen, fragment));
  if (joining?.kind !== "act") return joining;
  const links = placement.seen && releaseLinks(observed, intent.owner, placement.seen, fragment);
  if (links !== undefined) return foreseenRefusal(resolved) ?? links;
  if (!hasItsAddressesAlone(resolved, fragment)) return foreseenRefusal(resolved) ?? joining;
  const access = openAccess(resolved, "dead");
  return access?.kind === "act" ? act([...joining.steps, ...access.steps], joining.warnings) : (access ?? joining);
};

/**
 * A public IP that was made for a former incarnation may be going, if a controller of another class deletes it: the load balancer
 * would be refused, and nothing would tell that its address was open for the Service.
 */
function hasItsAddressesAlone(resolved: ResolvedService, fragment: LoadBalancerFragment): boolean {
  const { observed, intent, publicIPs } = resolved;
  const isFormer = (name: string): boolean => {
    const madeFor = baseOfPublicIP(observed.config.clusterName, name);
    return madeFor !== undefined && madeFor !== intent.owner.base.toLowerCase();
  };
  const isAlone = ({ seen }: DesiredPublicIP): boolean =>
    seen?.properties.ipAddress !== undefined &&
    !isFormer(seen.name) &&
    servicesOf(seen)?.length === 1 &&
    listsService(seen, intent.owner.key);
  return (
    publicIPs.uses.length === intent.families.length &&
    publicIPs.uses.every(isAlone) &&
    fragment.frontends.length === intent.families.length
  );
}

/** Neither needs the other, so both go in one round where both are left to do. */
const fillPoolsAndOpenAccess: Phase<ResolvedService> = (resolved) => {
  const { intent, placement } = resolved;
  const pools = placement.seen === undefined ? SETTLED : poolsOf(resolved, placement.seen);
  if (pools.kind === "reject") return reject(pools.rejection);
  const steps = pools.kind === "act" ? pools.steps : [];
  const missing = intent.families.find((family) => addressOf(resolved, family) === undefined);
  if (missing !== undefined) return act(steps) ?? wait(`Azure has not given it an ${missing} address yet`);
  const access = openAccess(resolved, "dead");
  if (access?.kind !== "act") return access ?? act(steps);
  return act([...steps, ...access.steps], access.warnings);
};

/** The pools that the Service's rules send to. */
function poolsOf({ observed, intent }: ResolvedService, seen: LoadBalancer) {
  return intent.hasOwnPool
    ? reconcileOwnPools(observed, seen, intent.owner.key)
    : reconcilePoolsOf(observed, seen, intent.families);
}

function openAccess(resolved: ResolvedService, released: "dead" | "all"): Decision | undefined {
  const { observed, intent, warnings } = resolved;
  const changed = isChanged(observed.service, observed.config);
  const addresses = accessAddresses(resolved, released);
  return roundOf(reconcileSecurityGroup(observed, intent, addresses, { changed }), warnings);
}

/**
 * Frontends of the opposite kind that are left to the Service, where no part of its own is: once its status has other
 * addresses, nothing says any more that they were its own.
 */
const leaveFrontendsLeftToIt: Phase<ResolvedService> = ({ observed, intent: { owner }, placement }) => {
  const isLeft = (one: LoadBalancer): boolean =>
    one.name !== placement.name && loadBalancersWith([one], owner.base).length === 0;
  return leaveLoadBalancers(observed, owner, loadBalancersLeftTo(observed).filter(isLeft));
};

/** The final applied state is written along, unless something is left to do after it. */
const publishAddresses: Phase<ResolvedService> = (resolved) => {
  const { service } = resolved.observed;
  const ingress = ingressOf(resolved);
  if (isPublished(service.status.loadBalancer.ingress ?? [], ingress)) return undefined;
  const applied =
    firstRound(AFTERWARDS, resolved) === undefined ? finalAppliedState(resolved) : changingState(resolved);
  return act(
    [{ kind: "updateStatus", ingress, applied, why: `served at ${ingress.map(({ ip }) => ip).join(", ")}` }],
    resolved.warnings,
  );
};

/** In any order, since the incumbent's is another; a missing `ipMode` means VIP. */
function isPublished(seen: readonly Ingress[], wanted: readonly Ingress[]): boolean {
  const ips = new Set(wanted.map(({ ip }) => ip));
  return (
    seen.length === wanted.length &&
    seen.every(({ ip, hostname, ipMode = "VIP" }) => ips.has(ip) && !hostname && ipMode === "VIP")
  );
}

const closeFormerAddresses: Phase<ResolvedService> = (resolved) => openAccess(resolved, "all");

const leaveOppositeLoadBalancers: Phase<ResolvedService> = ({ observed, intent, placement }) =>
  leaveLoadBalancers(observed, intent.owner, placement.flippedFrom);

const releaseFormerPublicIPs: Phase<ResolvedService> = ({ publicIPs }) => givePublicIPsBack(publicIPs.releases);

/** A private link service that Azure refuses keeps no address from being published. */
const ensurePrivateLink: Phase<ResolvedService> = ({ observed, intent: { owner, privateLink }, privateLink: link }) =>
  privateLink && link && ensureLink(observed, owner, privateLink, link);

/** What remains of the Service's past, in the order in which it may go; then what stands on its frontend. */
const AFTERWARDS: readonly Phase<ResolvedService>[] = [
  closeFormerAddresses,
  leaveOppositeLoadBalancers,
  releaseFormerPublicIPs,
  ensurePrivateLink,
];

/** The change that the Service was marked with is over. */
const markApplied: Phase<ResolvedService> = (resolved) => {
  const applied = readAppliedState(resolved.observed.service);
  if (applied === undefined || applied.fingerprint !== undefined) return undefined;
  const ingress = resolved.observed.service.status.loadBalancer.ingress ?? [];
  return act([
    { kind: "updateStatus", ingress, applied: finalAppliedState(resolved), why: "all of its change is applied" },
  ]);
};

const PHASES: readonly Phase<ResolvedService>[] = [
  holdFinalizer,
  replacePublicIPs,
  makePublicIPs,
  nameRulesOfLeftAddresses,
  leaveFormerLoadBalancers,
  closeUntoldAddresses,
  joinLoadBalancer,
  fillPoolsAndOpenAccess,
  leaveFrontendsLeftToIt,
  publishAddresses,
  ...AFTERWARDS,
  markApplied,
];

/** What the first phase asks for that is not right; settled where all are. */
export function reconcileServed(resolved: ResolvedService): Decision {
  const round = firstRound(PHASES, resolved);
  if (round !== undefined)
    return towardsJoining(resolved, writesToAzure(round) ? markChangingFirst(resolved, round) : round);
  const warnings = [...resolved.warnings, ...warningsOfPools(resolved)];
  return { kind: "settled", warnings, applied: finalAppliedState(resolved) };
}

/** A Service that is not on its load balancer yet is on its way there, and to the security group. */
function towardsJoining({ observed, intent, placement }: ResolvedService, round: Decision): Decision {
  if (round.kind !== "act" || round.steps.some(({ kind }) => kind === "loadBalancer")) return round;
  const { seen, id } = placement;
  if (seen !== undefined && loadBalancersWith([seen], intent.owner.base).length > 0) return round;
  const { config } = observed;
  const opens = intent.scope === "external" && config.securityGroupName !== "";
  return { ...round, leadsTo: [id, ...(opens ? [securityGroupId(config)] : [])] };
}

function writesToAzure(round: Decision): boolean {
  return round.kind === "act" && round.steps.some(isAzureStep);
}

/** Foreign entries of the pools that serve a Service are reported on the Service, where its user reads events. */
function warningsOfPools({ observed, intent, placement }: ResolvedService): readonly Warning[] {
  if (placement.seen === undefined) return [];
  return intent.hasOwnPool
    ? ownPoolWarnings(observed, placement.seen, intent.owner.key)
    : poolWarnings(observed, placement.seen, intent.families);
}
