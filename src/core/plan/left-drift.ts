/**
 * Which Services differ in Azure and would be left so: the controller reports them, under `report`, and writes nothing. What
 * another Service still has at a shared address while it is being deleted is no difference: that one removes it itself.
 */
import type { DriftPolicy } from "../intent/service-intent.ts";
import type { Service } from "../model/kubernetes.ts";
import type { Observed } from "../observed.ts";
import { driftPolicyOf, isRepair, mayRepair } from "../service/drift-policy.ts";
import { reconcileService } from "../service/reconcile-service.ts";
import { isTotalLoss } from "../service/total-loss.ts";

export function isLeftDrift(observed: Observed, byDefault: DriftPolicy): boolean {
  const { service, config } = observed;
  if (mayRepair(service, config, byDefault)) return false;
  const decision = reconcileService(observed);
  if (decision.kind !== "act" || !decision.steps.some(isRepair)) return false;
  const mayRestore = driftPolicyOf(service, config, byDefault) === "report";
  return !(mayRestore && isTotalLoss(observed, decision.steps)) && differsWithoutDeletions(observed);
}

/** Whether it would differ as well if no other Service were being deleted. */
export function differsWithoutDeletions(observed: Observed): boolean {
  const { otherServices } = observed;
  if (!otherServices.some(isBeingDeleted)) return true;
  const decision = reconcileService({ ...observed, otherServices: otherServices.map(asIfItStayed) });
  return decision.kind === "act" && decision.steps.some(isRepair);
}

function isBeingDeleted({ metadata }: Service): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function asIfItStayed(service: Service): Service {
  if (!isBeingDeleted(service)) return service;
  const { deletionTimestamp: _, ...metadata } = service.metadata;
  return { ...service, metadata };
}
