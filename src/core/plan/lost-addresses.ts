/**
 * Which published addresses these steps take from a Service that asks for no change: its own, since a step carries what
 * one Service owns. Empty for a Service that changed itself, is being deleted or was never published. Whether so much may
 * be taken is decided over all Services: in the plan by `plan-cluster.ts`, at work by `controller/brake/brake.ts`.
 */
import { ownerOf } from "../intent/ownership.ts";
import type { Observed } from "../observed.ts";
import { isChangedItself } from "../service/applied-state.ts";
import { isAzureStep } from "../service/rounds.ts";
import { addressesOn, frontendsOf, publishedAddresses } from "../service/service-parts.ts";
import type { Step } from "../steps.ts";
import { predict } from "./predict.ts";

/** Sorted. */
export function lostAddresses(observed: Observed, steps: readonly Step[]): readonly string[] {
  const published = publishedAddresses(observed);
  if (published.length === 0 || !steps.some(isAzureStep) || isChangedItself(observed.service)) return [];
  const before = servedAddresses(observed);
  const after = servedAddresses(predict(observed, steps));
  return published.filter((address) => before.has(address) && !after.has(address)).sort();
}

/** At which addresses Azure serves it. */
function servedAddresses(observed: Observed): ReadonlySet<string> {
  const { base } = ownerOf(observed.service);
  return new Set(
    observed.loadBalancers.flatMap((loadBalancer) => addressesOn(observed, frontendsOf(loadBalancer, base))),
  );
}
