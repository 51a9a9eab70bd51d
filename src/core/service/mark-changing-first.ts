/**
 * A change is marked on the Service before its first write, so that a half of it is never taken for drift, and that
 * what the Service itself may forget before it is published is found again: public IPs in other resource groups. A
 * Service that is new, or taken over, and has none of these needs no mark: it bears no applied state that could mislead.
 */
import { parseId } from "../model/ids.ts";
import type { Decision } from "../steps.ts";
import { fingerprintOf, isApplied, readAppliedState, renderAppliedState } from "./applied-state.ts";
import { isAzureStep } from "./rounds.ts";
import { frontendsOf } from "./service-parts.ts";
import type { ResolvedService } from "./resolve-service.ts";

/** The decision itself, or the mark that must be written before it. */
export function markChangingFirst(resolved: ResolvedService, decision: Decision): Decision {
  const { service, config } = resolved.observed;
  if (decision.kind !== "act" || !decision.steps.some(isAzureStep)) return decision;
  const applied = readAppliedState(service);
  const isNoted = groupsNow(resolved).every((group) => applied?.groups.includes(group));
  const isCurrent = applied?.fingerprint === undefined || isApplied(service, config);
  if (isNoted && isCurrent) return decision;
  const ingress = service.status.loadBalancer.ingress ?? [];
  const step = { kind: "updateStatus", ingress, applied: changingState(resolved), why: "a change begins" } as const;
  return { kind: "act", steps: [step], warnings: [] };
}

/** What the Service is marked with while a change is on its way. */
export function changingState(resolved: ResolvedService): string {
  const { groups = [] } = readAppliedState(resolved.observed.service) ?? {};
  return renderAppliedState({
    fingerprint: undefined,
    groups: [...new Set([...groups, ...groupsNow(resolved)])],
  });
}

/** Everything is applied and nothing is left behind. */
export function finalAppliedState(resolved: ResolvedService): string {
  const { observed, publicIPs } = resolved;
  const groups = outside(
    resolved,
    publicIPs.uses.map(({ id }) => id),
  );
  const fingerprint = fingerprintOf(observed.service, observed.config);
  return renderAppliedState({ fingerprint, groups });
}

/** Resource groups that the Service has, or is about to have, public IPs in. */
function groupsNow(resolved: ResolvedService): string[] {
  const { observed, intent, publicIPs } = resolved;
  const frontends = observed.loadBalancers.flatMap((seen) => frontendsOf(seen, intent.owner.base));
  return outside(resolved, [
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
