/**
 * A change is announced on the Service before its first write, so that a half of it is never taken for drift, and that
 * what the Service itself may forget before it is published is found again: public IPs in other resource groups, and
 * additional addresses. A Service that is new, or taken over, and has none of these needs no announcement: it bears no
 * mark that could mislead.
 */
import { parseId } from "../model/ids.ts";
import type { Decision } from "../steps.ts";
import { fingerprintOf, isApplied, markOf, writeMark } from "./applied-state.ts";
import { isAzureStep } from "./rounds.ts";
import { frontendsOf } from "./service-parts.ts";
import type { ResolvedService } from "./resolve-service.ts";

/** The decision itself, or the announcement that must come before it. */
export function announced(wish: ResolvedService, decision: Decision): Decision {
  const { service, config } = wish.observed;
  if (decision.kind !== "act" || !decision.steps.some(isAzureStep)) return decision;
  const mark = markOf(service);
  const isNoted =
    groupsNow(wish).every((group) => mark?.groups.includes(group)) &&
    wish.intent.additionalPublicIPs.every((address) => mark?.addresses.includes(address));
  const isHonest = mark?.fingerprint === undefined || isApplied(service, config);
  if (isNoted && isHonest) return decision;
  const ingress = service.status.loadBalancer.ingress ?? [];
  const step = { kind: "updateStatus", ingress, applied: markDuring(wish), why: "a change begins" } as const;
  return { kind: "act", steps: [step], warnings: [] };
}

export function markDuring(wish: ResolvedService): string {
  const { groups = [], addresses = [] } = markOf(wish.observed.service) ?? {};
  return writeMark({
    fingerprint: undefined,
    groups: [...new Set([...groups, ...groupsNow(wish)])],
    addresses: [...new Set([...addresses, ...wish.intent.additionalPublicIPs])],
  });
}

/** Everything is applied and nothing is left behind. */
export function finalMark(wish: ResolvedService): string {
  const { observed, intent, publicIPs } = wish;
  const groups = outside(
    wish,
    publicIPs.uses.map(({ id }) => id),
  );
  const fingerprint = fingerprintOf(observed.service, observed.config);
  return writeMark({ fingerprint, groups, addresses: intent.additionalPublicIPs });
}

/** Resource groups that the Service has, or is about to have, public IPs in. */
function groupsNow(wish: ResolvedService): string[] {
  const { observed, intent, publicIPs } = wish;
  const frontends = observed.loadBalancers.flatMap((seen) => frontendsOf(seen, intent.owner.base));
  return outside(wish, [
    ...publicIPs.uses.map(({ id }) => id),
    ...publicIPs.releases.map(({ seen }) => seen.id),
    ...frontends.flatMap(({ properties }) => properties.publicIPAddress?.id ?? []),
  ]);
}

/** Their groups but for the cluster's own, which is looked at anyway. */
function outside({ observed: { config } }: ResolvedService, ids: readonly string[]): string[] {
  const groups = new Set(ids.flatMap((id) => parseId(id)?.resourceGroup.toLowerCase() ?? []));
  groups.delete(config.resourceGroup.toLowerCase());
  return [...groups];
}
