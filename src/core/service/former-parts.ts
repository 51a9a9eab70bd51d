/**
 * What the former incarnation of a Service has left on a load balancer. Names are made of the UID: a Service that is created
 * anew from a backup has another one, and the parts of the old one are no Service's any more. The new Service goes on at the
 * frontends of the old one, so that no address changes, and its rules take the place of the old ones in one write.
 *
 *   a part named after a UID that no Service of the cluster has | is the Service's former one if
 *   ------------------------------------------------------------|------------------------------------------------------
 *   any                                                         | the mark on the Service (`applied-state.ts`) notes the UID
 *   a rule at a public IP that lists the Service alone          | always
 *   a rule at a public IP that lists others, too                | it has a port that the Service asks for
 *
 * A user who may write a Service may write its mark, too: such a user must know the UID, and gains nothing of a
 * Service that exists.
 */
import type { Frontend, LoadBalancer, LoadBalancingRule } from "../model/arm.ts";
import { baseName, baseOf, isServiceBase } from "../model/names.ts";
import { isOfCluster, listsService, servicesOf } from "../model/tags.ts";
import type { Observed } from "../observed.ts";
import type { Owner } from "../outcome.ts";
import type { LoadBalancerFragment } from "../resources/load-balancer/fragment.ts";
import {
  claimOf,
  frontendOf,
  loadBalancerIndex,
  type LoadBalancerIndex,
  partsOf,
  standingOn,
} from "../resources/load-balancer/load-balancer-index.ts";
import { isBaseInUse } from "../resources/load-balancer/part-user.ts";
import { overlap } from "../resources/load-balancer/port-clashes.ts";
import { readAppliedState } from "./applied-state.ts";
import { findPublicIP } from "./service-parts.ts";

/** Bases, in lower case, that the mark notes and no Service of the cluster has. */
function notedBases(observed: Observed): ReadonlySet<string> {
  const { service } = observed;
  const noted = (readAppliedState(service)?.uids ?? []).map((uid) => baseName(uid).toLowerCase());
  const own = baseName(service.metadata.uid).toLowerCase();
  return new Set(noted.filter((base) => base !== own && !isBaseInUse(observed, base)));
}

/**
 * The private frontends that it goes on at: those that the mark notes, and those that only it still stands on, whatever the
 * mark says.
 */
export function formerFrontends(observed: Observed, owner: Owner, seen: LoadBalancer | undefined): Frontend[] {
  if (seen === undefined) return [];
  const index = loadBalancerIndex(seen);
  const noted = notedBases(observed);
  const own = owner.base.toLowerCase();
  const isOurs = ({ name, properties }: Frontend): boolean => {
    const base = baseOf(name);
    if (properties.privateIPAddress === undefined || !isVanished(observed, owner, base)) return false;
    return noted.has(base) || (index.users.get(name.toLowerCase()) ?? []).every((user) => user.base === own);
  };
  const ofNoted = [...noted].flatMap((base) => partsOf(index, base).frontends);
  return [...new Set([...standingOn(index, owner.base), ...ofNoted])].filter(isOurs);
}

/** What goes with the Service's rules, which are `wanted` from now on. */
export function leftOver(
  observed: Observed,
  owner: Owner,
  seen: LoadBalancer | undefined,
  wanted: readonly LoadBalancingRule[],
): Pick<LoadBalancerFragment, "replaces" | "releases"> {
  if (seen === undefined) return { replaces: [], releases: [] };
  const index = loadBalancerIndex(seen);
  const noted = [...notedBases(observed)].map((base) => partsOf(index, base));
  const frontends = new Set(wanted.map(({ properties }) => frontendOf(properties.frontendIPConfiguration) ?? ""));
  const atAddresses = [...frontends].flatMap((name) => formerRules(observed, owner, index, name, wanted));
  const rules = new Set([...noted.flatMap((parts) => parts.rules), ...atAddresses]);
  return {
    replaces: [...rules].map(({ name }) => name).sort(),
    releases: noted.flatMap((parts) => parts.frontends.map(({ name }) => name.toLowerCase())),
  };
}

function formerRules(
  observed: Observed,
  owner: Owner,
  index: LoadBalancerIndex,
  frontend: string,
  wanted: readonly LoadBalancingRule[],
): LoadBalancingRule[] {
  const id = index.frontends.get(frontend)?.properties.publicIPAddress?.id;
  const publicIP = id === undefined ? undefined : findPublicIP(observed, id);
  if (publicIP === undefined || !listsService(publicIP, owner.key)) return [];
  if (!isOfCluster(publicIP, observed.config.clusterName)) return [];
  const isAlone = servicesOf(publicIP)?.length === 1;
  const claims = wanted.flatMap((rule) => claimOf(rule) ?? []).filter((claim) => claim.frontend === frontend);
  const users = (index.users.get(frontend) ?? []).filter(
    ({ kind, base }) => kind === "load balancing rule" && isVanished(observed, owner, base),
  );
  return users.flatMap(({ name }) => {
    const rule = index.rules.get(name.toLowerCase());
    const claimed = rule && claimOf(rule);
    const isInTheWay = claimed !== undefined && claims.some((claim) => overlap(claim, claimed));
    return rule !== undefined && (isAlone || isInTheWay) ? [rule] : [];
  });
}

function isVanished(observed: Observed, owner: Owner, base: string): boolean {
  return isServiceBase(base) && base !== owner.base.toLowerCase() && !isBaseInUse(observed, base);
}
