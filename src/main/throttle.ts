/** The throttle budgets of the subscriptions that a controller calls, as they stand: for its metrics and its API. */
import type { ArmClient } from "../azure/arm/arm-client.ts";
import type { GateOf } from "../controller/limit-metrics.ts";
import type { ClusterConfig } from "../core/config/cluster-config.ts";

const CALLS = ["reads", "writes", "deletes"] as const;

export function throttleOf(
  arm: ArmClient,
  { networkSubscriptionId, subscriptionId }: Pick<ClusterConfig, "networkSubscriptionId" | "subscriptionId">,
): (GateOf & { readonly calls: (typeof CALLS)[number] })[] {
  return [...new Set([networkSubscriptionId, subscriptionId])].flatMap((subscription) => {
    const budget = arm.budgetOf(`/subscriptions/${subscription}/`);
    return CALLS.map((calls) => ({ subscription, calls, ...budget.shown(calls) }));
  });
}
