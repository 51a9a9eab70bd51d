/**
 * Tells the loss of everything a Service has on a load balancer from a change by hand: what was changed stays and is
 * reported, what is gone entirely is made again, whatever the drift policy (but `ignore`). Only where its public IPs are
 * still there, so that it comes back at the same addresses.
 */
import { ownerOf } from "../intent/ownership.ts";
import type { Observed } from "../observed.ts";
import { KINDS } from "../resources/kinds.ts";
import { loadBalancersWith } from "../resources/load-balancer/load-balancer-index.ts";
import type { Step } from "../steps.ts";

export function isTotalLoss(observed: Observed, steps: readonly Step[]): boolean {
  const { base } = ownerOf(observed.service);
  if (loadBalancersWith(observed.loadBalancers, base).length > 0) return false;
  const isMissing = (step: Step): boolean =>
    step.kind === "publicIP" && KINDS.publicIP.find(observed, step.id) === undefined;
  return steps.some(({ kind }) => kind === "loadBalancer") && !steps.some(isMissing);
}
