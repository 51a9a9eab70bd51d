/**
 * The phases of a Service that should not be served any more: its security rules, what it has on load balancers, its
 * public IPs, its status, its finalizer. Needs nothing that the Service asks for, so a Service that cannot be read can
 * be cleaned up all the same.
 */
import { addressesOfMembers, desiredBackendPool } from "../resources/backend-pool/desired-backend-pool.ts";
import { membersOf } from "../resources/reconcile-pools.ts";
import { loadBalancersWith } from "../resources/load-balancer/get-service-load-balancer.ts";
import type { Decision } from "../steps.ts";
import { reconcilePublicIP } from "../resources/public-ip/reconcile-public-ip.ts";
import { together } from "../resources/reconciled.ts";
import {
  boundPublicIPs,
  type PublicIPRelease,
  releasedPublicIPs,
  untaggedPublicIPs,
} from "../resources/public-ip/desired-public-ips.ts";
import { SERVICE_TAG } from "../model/ownership-tags.ts";
import type { ServiceAddresses } from "../resources/security-group/fragment.ts";
import { releaseSecurityGroup } from "../resources/security-group/reconcile-security-group.ts";
import type { Observed } from "../observed.ts";
import { leaveLoadBalancers } from "./leave-load-balancer.ts";
import { ownerOf } from "../intent/ownership.ts";
import { act, type Phase, roundOf } from "./rounds.ts";
import type { Owner } from "../outcome.ts";
import { addressesOn, formerAddresses, frontendsOf } from "./service-parts.ts";

export const closeAllAddresses: Phase<Observed> = (observed) => {
  const owner = ownerOf(observed.service);
  const frontends = observed.loadBalancers.flatMap((seen) => frontendsOf(seen, owner.base));
  const publics = boundPublicIPs(observed, owner).flatMap(({ properties }) => properties.ipAddress ?? []);
  const released = [...formerAddresses(observed), ...addressesOn(observed, frontends), ...publics];
  const membership = { config: observed.config, nodes: observed.nodes, known: membersOf(observed, undefined) };
  const nodes = {
    IPv4: addressesOfMembers(desiredBackendPool(membership, "IPv4")),
    IPv6: addressesOfMembers(desiredBackendPool(membership, "IPv6")),
  };
  return closeAddresses(observed, owner, { released: [...new Set(released)], nodes });
};

interface Closing {
  readonly released: readonly string[];
  /** Of nodes whose ports the Service may have opened. */
  readonly nodes: ServiceAddresses["nodes"];
}

export function closeAddresses(observed: Observed, owner: Owner, closing: Closing): Decision | undefined {
  return roundOf(releaseSecurityGroup(observed, owner, { ...closing, current: { IPv4: [], IPv6: [] } }));
}

/** On whatever load balancer, of either kind, its parts are. */
export const leaveAllLoadBalancers: Phase<Observed> = (observed) => {
  const owner = ownerOf(observed.service);
  return leaveLoadBalancers(observed, owner, loadBalancersWith(observed.loadBalancers, owner.base));
};

export const releaseAllPublicIPs: Phase<Observed> = (observed) =>
  givePublicIPsBack(releasedPublicIPs(observed, ownerOf(observed.service), []));

export function givePublicIPsBack(releases: readonly PublicIPRelease[]): Decision | undefined {
  return roundOf(together(releases.map(({ seen, fragment }) => reconcilePublicIP(seen.id, seen, fragment))));
}

/** A Service that is being deleted takes its status with it. */
export const clearStatus: Phase<Observed> = ({ service }) => {
  const isShown = (service.status.loadBalancer.ingress ?? []).length > 0;
  if (service.metadata.deletionTimestamp !== undefined || !isShown) return undefined;
  return act([{ kind: "updateStatus", ingress: [], applied: undefined, why: "it is served no longer" }]);
};

export const dropFinalizer: Phase<Observed> = (observed) =>
  act(
    [{ kind: "removeFinalizer", why: "nothing of it is left in Azure" }],
    untaggedPublicIPs(observed, ownerOf(observed.service)).map(({ name }) => ({
      reason: "DeletePublicIPAddress",
      message:
        `public IP "${name}" stays although no Service uses it: it has no tag ${SERVICE_TAG}, so a person may have made ` +
        "it. Delete it, if it is not needed",
    })),
  );
