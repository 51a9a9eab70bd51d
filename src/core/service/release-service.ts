/**
 * The phases of a Service that should not be served any more: its security rules, what it has on load balancers, its
 * public IPs, its status, its finalizer. Needs nothing that the Service asks for, so a Service that cannot be read can
 * be cleaned up all the same.
 */
import { addressesOfMembers, desiredBackendPool, membersOf } from "../resources/backend-pool/desired-backend-pool.ts";
import { loadBalancersWith } from "../resources/load-balancer/load-balancer-index.ts";
import type { Decision, AzureStep } from "../steps.ts";
import { reconcilePublicIP } from "../resources/public-ip/merge-public-ip.ts";
import { together, type Reconciled, SETTLED } from "../resources/reconciled.ts";
import {
  boundPublicIPs,
  type PublicIPRelease,
  releasedPublicIPs,
  untaggedPublicIPs,
} from "../resources/public-ip/desired-public-ips.ts";
import { SERVICE_TAG } from "../model/tags.ts";
import { releaseSecurityGroup } from "../resources/security-group/reconcile-security-group.ts";
import type { Observed } from "../observed.ts";
import { OURS } from "../intent/annotations/ours.ts";
import type { Service } from "../model/kubernetes.ts";
import { ownerOf } from "../intent/ownership.ts";
import { handOverLinks, releaseLinks } from "./private-links.ts";
import { act, firstRound, type Phase, roundOf, reject } from "./rounds.ts";
import type { Owner } from "../outcome.ts";
import { addressesOn, formerAddresses, frontendsOf } from "./service-parts.ts";
import { loadBalancersLeftTo, surroundingsOn } from "./surroundings.ts";
import type { LoadBalancer } from "../model/arm.ts";
import { absentNicPools } from "../resources/nic-pools/desired-nic-pools.ts";
import { absentLoadBalancer } from "../resources/load-balancer/desired-load-balancer.ts";
import type { LoadBalancerFragment } from "../resources/load-balancer/fragment.ts";
import { reconcileLoadBalancer } from "../resources/load-balancer/merge-load-balancer.ts";
import { reconcileNicPools } from "../resources/nic-pools/reconcile-nic-pools.ts";

const closeAllAddresses: Phase<Observed> = (observed) => {
  const owner = ownerOf(observed.service);
  const frontends = observed.loadBalancers.flatMap((seen) => frontendsOf(seen, owner.base));
  const publics = boundPublicIPs(observed, owner).flatMap(({ properties }) => properties.ipAddress ?? []);
  const released = [...formerAddresses(observed), ...addressesOn(observed, frontends), ...publics];
  const membership = { config: observed.config, nodes: observed.nodes, known: membersOf(observed, undefined) };
  const nodes = {
    IPv4: addressesOfMembers(desiredBackendPool(membership, "IPv4")),
    IPv6: addressesOfMembers(desiredBackendPool(membership, "IPv6")),
  };
  const current = { IPv4: [], IPv6: [] };
  return roundOf(releaseSecurityGroup(observed, owner, { current, released: [...new Set(released)], nodes }));
};

/** On whatever load balancer, of either kind, its parts are, or a frontend that is left to it. */
const leaveAllLoadBalancers: Phase<Observed> = (observed) => {
  const owner = ownerOf(observed.service);
  const present = [...loadBalancersWith(observed.loadBalancers, owner.base), ...loadBalancersLeftTo(observed)];
  return leaveLoadBalancers(observed, owner, [...new Set(present)]);
};

const releaseAllPublicIPs: Phase<Observed> = (observed) =>
  givePublicIPsBack(releasedPublicIPs(observed, ownerOf(observed.service), [], isProtected(observed.service)));

/** Read by itself, so that it holds also where the rest of the annotations is refused. */
function isProtected({ metadata }: Service): boolean {
  const { key, kind } = OURS.deletionProtection;
  return kind.read(metadata.annotations?.[key] ?? "").value === true;
}

export function givePublicIPsBack(releases: readonly PublicIPRelease[]): Decision | undefined {
  return roundOf(together(releases.map(({ seen, fragment }) => reconcilePublicIP(seen.id, seen, fragment))));
}

/** A Service that is being deleted takes its status with it. */
const clearStatus: Phase<Observed> = ({ service }) => {
  const isShown = (service.status.loadBalancer.ingress ?? []).length > 0;
  if (service.metadata.deletionTimestamp !== undefined || !isShown) return undefined;
  return act([{ kind: "updateStatus", ingress: [], applied: undefined, why: "it is served no longer" }]);
};

const dropFinalizer: Phase<Observed> = (observed) =>
  act(
    [{ kind: "removeFinalizer", why: "nothing of it is left in Azure" }],
    untaggedPublicIPs(observed, ownerOf(observed.service)).map(({ name }) => ({
      reason: "DeletePublicIPAddress",
      message:
        `public IP "${name}" stays although no Service uses it: it has no tag ${SERVICE_TAG}, so a person may have made ` +
        "it. Delete it, if it is not needed",
    })),
  );

/** A public IP never before its frontend; the finalizer last. */
const PHASES: readonly Phase<Observed>[] = [
  closeAllAddresses,
  leaveAllLoadBalancers,
  releaseAllPublicIPs,
  clearStatus,
  dropFinalizer,
];

/** What the first phase asks for that is not right; `undefined` where all are. */
export function reconcileReleased(observed: Observed): Decision | undefined {
  return firstRound(PHASES, observed);
}

/**
 * Private link services on the frontends that go with the Service go before them; a load balancer that is deleted with it
 * lets go of the machines in its pools first. `movesTo`: the load balancer that serves the Service next.
 */
export function leaveLoadBalancers(
  observed: Observed,
  owner: Owner,
  loadBalancers: readonly LoadBalancer[],
  movesTo?: string,
): Decision | undefined {
  const steps: AzureStep[] = [];
  for (const seen of loadBalancers) {
    const fragment = absentLoadBalancer({ owner, seen, ...surroundingsOn(observed, { name: seen.name, seen }) });
    const result = reconcileLoadBalancer(seen.id, seen, fragment);
    if (result.kind === "reject") return reject(result.rejection);
    if (result.kind !== "act") continue;
    const links = handOverLinks(observed, owner, seen) ?? releaseLinks(observed, owner, seen, fragment);
    if (links !== undefined) return links;
    const moved =
      movesTo === undefined ? result.steps : result.steps.map((step) => ({ ...step, why: whyMoved(owner, movesTo) }));
    const detachments = detachmentsOf(observed, seen);
    if (detachments.kind !== "act") steps.push(...moved);
    else if (result.deletes) steps.push(...detachments.steps);
    else steps.push(...result.steps.map((step) => ({ ...step, fragment: amongOthers(step.fragment) })));
  }
  return act(steps); // what stays is told by the write: others may leave in the same one
}

function whyMoved({ key }: Owner, to: string): string {
  return `${key} moves to load balancer "${to}": its address does not answer until it is written there`;
}

/** Others may leave in the same write; then the last of them must take the machines out before the load balancer goes. */
function amongOthers(fragment: LoadBalancerFragment): LoadBalancerFragment {
  const { disposable } = fragment;
  return disposable === undefined ? fragment : { ...fragment, disposable: { ...disposable, hasMachines: true } };
}

function detachmentsOf(observed: Observed, loadBalancer: LoadBalancer): Reconciled<"nicPools"> {
  const { config, nodes, compute } = observed;
  if ((config.poolType === "nodeIP" && !config.migratesPools) || compute === undefined) return SETTLED;
  const known = membersOf(observed, loadBalancer);
  return reconcileNicPools(absentNicPools({ config, nodes, compute, loadBalancer, known }), observed);
}
