/**
 * What one Service must have written to one load balancer: its fragment where it should exist, the absence of it where
 * it should not. Depends on the Service and on this load balancer alone.
 */
import type { LoadBalancer } from "../../model/arm.ts";
import { pluralize } from "../../util/text.ts";
import { reconciled, type Reconciled, SETTLED } from "../reconciled.ts";
import type { LoadBalancerFragment } from "./fragment.ts";
import { isSettled, mergeLoadBalancer } from "./merge-load-balancer.ts";

/** `seen` is absent where the load balancer is yet to be made. @design reconcileLoadBalancer */
export function reconcileLoadBalancer(
  id: string,
  seen: LoadBalancer | undefined,
  fragment: LoadBalancerFragment,
): Reconciled<"loadBalancer"> {
  if (isSettled(seen, fragment)) return SETTLED;
  return reconciled(mergeLoadBalancer(seen, [fragment]), (outcome) => {
    return { kind: "loadBalancer", id, fragment, why: whyOf(fragment, seen, outcome) };
  });
}

function whyOf(
  { owner, frontends, rules }: LoadBalancerFragment,
  seen: LoadBalancer | undefined,
  outcome: "put" | "delete",
): string {
  if (outcome === "delete") return `${owner.key} was the last on it`;
  if (frontends.length + rules.length === 0) return `${owner.key} is not served here`;
  const parts = `${pluralize(frontends.length, "frontend")} and ${pluralize(rules.length, "rule")} of ${owner.key}`;
  return seen === undefined ? `created for ${parts}` : parts;
}
