/**
 * The phases of a Service that should be served: each finds its part right, or asks for one round. Their order is told
 * in `reconcile-service.ts`.
 */
import type { Frontend } from "../model/arm.ts";
import { reconcilePoolsOf } from "../resources/reconcile-pools.ts";
import { rejectionIn } from "../outcome.ts";
import { securityGroupId } from "../model/ids.ts";
import type { Ingress } from "../model/kubernetes.ts";
import { absentFragment } from "../resources/load-balancer/desired-fragment.ts";
import type { LoadBalancerFragment } from "../resources/load-balancer/fragment.ts";
import { frontendOf } from "../resources/load-balancer/load-balancer-index.ts";
import { isRightFrontend } from "../resources/load-balancer/parts.ts";
import { reconcileLoadBalancer } from "../resources/load-balancer/reconcile-load-balancer.ts";
import type { AzureStep, Decision } from "../steps.ts";
import type { DesiredPublicIP } from "../resources/public-ip/desired-public-ip.ts";
import { mergePublicIP } from "../resources/public-ip/merge-public-ip.ts";
import { listsService, servicesOf } from "../resources/public-ip/public-ip-tags.ts";
import { reconcileSecurityGroup } from "../resources/security-group/reconcile-security-group.ts";
import { finalAppliedState, changingState } from "./mark-changing-first.ts";
import { isChanged, readAppliedState } from "./applied-state.ts";
import { disposableOf, leaveLoadBalancers } from "./leave-load-balancer.ts";
import { surroundingsOn } from "./other-services.ts";
import { FINALIZER } from "../intent/ownership.ts";
import { closeAddresses, givePublicIPsBack } from "./release-service.ts";
import { act, firstRound, type Phase, reject, wait } from "./rounds.ts";
import { addressesOn, formerAddresses, frontendsOf } from "./service-parts.ts";
import { accessAddresses, addressOf, fragmentOf, ingressOf, type ResolvedService } from "./resolve-service.ts";

export const holdFinalizer: Phase<ResolvedService> = ({ observed: { service } }) =>
  service.metadata.finalizers?.includes(FINALIZER)
    ? undefined
    : act([{ kind: "addFinalizer", why: "a finalizer, so that nothing of it is left in Azure when it goes" }]);

/** A public IP that can never be what is asked for makes way for another of its name; its address is lost. */
export const replacePublicIPs: Phase<ResolvedService> = (resolved) => {
  const { observed, intent, publicIPs, placement } = resolved;
  const replaced = publicIPs.uses.filter(({ mustBeReplaced }) => mustBeReplaced);
  if (replaced.length === 0) return undefined;
  const closing = {
    released: replaced.flatMap(({ seen }) => seen?.properties.ipAddress ?? []),
    nodes: { IPv4: [], IPv6: [] },
  };
  const ready = publicIPs.uses.filter(({ seen, mustBeReplaced }) => seen !== undefined && !mustBeReplaced);
  const families = ready.map(({ family }) => family);
  const leaveFrontends: Phase<ResolvedService> = () =>
    placement.seen && reconciled(reconcileLoadBalancer(placement.id, placement.seen, remainder(resolved, families)));
  const releases = publicIPs.releases.filter(({ seen }) => replaced.some(({ id }) => id === seen.id));
  return firstRound(
    [() => closeAddresses(observed, intent.owner, closing), leaveFrontends, () => givePublicIPsBack(releases)],
    resolved,
  );
};

function remainder(resolved: ResolvedService, families: ResolvedService["intent"]["families"]) {
  const { observed, intent, placement } = resolved;
  if (families.length > 0 || placement.seen === undefined) return fragmentOf(resolved, families);
  return absentFragment({
    owner: intent.owner,
    seen: placement.seen,
    disposable: disposableOf(observed, placement.seen),
    ...surroundingsOn(observed, placement.name),
  });
}

export const makePublicIPs: Phase<ResolvedService> = ({ publicIPs, intent, warnings }) => {
  const steps: AzureStep[] = [];
  for (const { id, seen, fragment, family } of publicIPs.uses) {
    const merged = mergePublicIP(seen, [fragment]);
    const rejection = rejectionIn(merged);
    if (rejection !== undefined) return reject(rejection);
    const why = `${seen === undefined ? "made for" : "used by"} ${intent.owner.key} (${family})`;
    if (merged.outcome.kind === "put") steps.push({ kind: "publicIP", id, fragment, why });
  }
  return act(steps, warnings);
};

/**
 * Addresses that were opened but never told, and that the next write of the load balancer takes from the Service: once
 * its frontend has another one, nothing says any more that it was open for it.
 */
export const closeUntoldAddresses: Phase<ResolvedService> = (resolved) => {
  const { observed, intent, placement } = resolved;
  const told = new Set(formerAddresses(observed));
  const isUntold = (frontend: Frontend): boolean => addressesOn(observed, [frontend]).some((ip) => !told.has(ip));
  const untold = placement.seen === undefined ? [] : frontendsOf(placement.seen, intent.owner.base).filter(isUntold);
  if (untold.length === 0) return undefined;
  const { frontends, rules } = fragmentOf(resolved, intent.families);
  const wanted = new Map(frontends.map((frontend) => [frontend.name.toLowerCase(), frontend]));
  const used = new Set(rules.map(({ properties }) => frontendOf(properties.frontendIPConfiguration)));
  const left = untold.filter((frontend) => {
    const name = frontend.name.toLowerCase();
    const own = wanted.get(name);
    return own === undefined ? !used.has(name) : !isRightFrontend(frontend, own);
  });
  if (left.length === 0) return undefined;
  return closeAddresses(observed, intent.owner, {
    released: addressesOn(observed, left),
    nodes: { IPv4: [], IPv6: [] },
  });
};

/** One address cannot stand on two load balancers: another of the same kind is left first. */
export const leaveFormerLoadBalancers: Phase<ResolvedService> = ({ observed, intent, placement }) =>
  leaveLoadBalancers(observed, intent.owner, placement.movedFrom);

/**
 * Where the addresses are known and nobody else's, who may reach them is written along: it saves the wait for a write,
 * and opens nothing but what the Service has to itself. On a shared address it waits until the ports are granted.
 */
export const joinLoadBalancer: Phase<ResolvedService> = (resolved) => {
  const { intent, placement } = resolved;
  const fragment = fragmentOf(resolved, intent.families);
  const joining = reconciled(reconcileLoadBalancer(placement.id, placement.seen, fragment));
  if (joining?.kind !== "act" || !hasItsAddressesAlone(resolved, fragment)) return joining;
  const access = openAccess(resolved, "dead");
  return access?.kind === "act" ? act([...joining.steps, ...access.steps], joining.warnings) : (access ?? joining);
};

function hasItsAddressesAlone({ intent, publicIPs }: ResolvedService, fragment: LoadBalancerFragment): boolean {
  const isAlone = ({ seen }: DesiredPublicIP): boolean =>
    seen?.properties.ipAddress !== undefined && servicesOf(seen)?.length === 1 && listsService(seen, intent.owner.key);
  return (
    publicIPs.uses.length === intent.families.length &&
    publicIPs.uses.every(isAlone) &&
    fragment.frontends.length === intent.families.length
  );
}

function reconciled(result: ReturnType<typeof reconcileLoadBalancer>): Decision | undefined {
  switch (result.kind) {
    case "settled":
      return undefined;
    case "act":
      return act([result.step]); // what stays is told by the write: others may leave in the same one
    case "stale":
      return wait("the load balancer is being changed by others");
    case "reject":
      return reject(result.rejection);
  }
}

/** Neither needs the other, so both go in one round where both are left to do. */
export const fillPoolsAndOpenAccess: Phase<ResolvedService> = (resolved) => {
  const { observed, intent, placement } = resolved;
  const pools = placement.seen === undefined ? [] : reconcilePoolsOf(observed, placement.seen, intent.families);
  if ("kind" in pools) return reject(pools);
  const missing = intent.families.find((family) => addressOf(resolved, family) === undefined);
  if (missing !== undefined) return act(pools) ?? wait(`Azure has not given it an ${missing} address yet`);
  const access = openAccess(resolved, "dead");
  if (access?.kind !== "act") return access ?? act(pools);
  return act([...pools, ...access.steps], access.warnings);
};

function openAccess(resolved: ResolvedService, released: "dead" | "all"): Decision | undefined {
  const { observed, intent } = resolved;
  const changed = isChanged(observed.service, observed.config);
  const result = reconcileSecurityGroup(observed, intent, accessAddresses(resolved, released), { changed });
  if (result.kind === "reject") return reject(result.rejection);
  if (result.kind === "settled") return undefined;
  const why = `who may reach ${intent.owner.key}`;
  return act(
    [{ kind: "securityGroup", id: securityGroupId(observed.config), fragment: result.fragment, why }],
    resolved.warnings,
  );
}

/** The final applied state is written along, unless something of the Service's past is still to be removed. */
export const publishAddresses: Phase<ResolvedService> = (resolved) => {
  const { service } = resolved.observed;
  const ingress = ingressOf(resolved);
  if (isPublished(service.status.loadBalancer.ingress ?? [], ingress)) return undefined;
  const applied = firstRound(LEFTOVERS, resolved) === undefined ? finalAppliedState(resolved) : changingState(resolved);
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

/** What remains of the Service's past, in the order in which it may go. */
export const LEFTOVERS: readonly Phase<ResolvedService>[] = [
  closeFormerAddresses,
  leaveOppositeLoadBalancers,
  releaseFormerPublicIPs,
];

/** The change that the Service was marked with is over. */
export const markApplied: Phase<ResolvedService> = (resolved) => {
  const applied = readAppliedState(resolved.observed.service);
  if (applied === undefined || applied.fingerprint !== undefined) return undefined;
  const ingress = resolved.observed.service.status.loadBalancer.ingress ?? [];
  return act([
    { kind: "updateStatus", ingress, applied: finalAppliedState(resolved), why: "all of its change is applied" },
  ]);
};
