/** Which Services differ in Azure and would be left so: the controller reports them, under `report`, and writes nothing. */
import type { DriftPolicy } from "../intent/service-intent.ts";
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
  return !(mayRestore && isTotalLoss(observed, decision.steps));
}
