/**
 * What one Service must have written to one load balancer: its fragment where it should exist, the absence of it where
 * it should not. Depends on the Service and on this load balancer alone.
 */
import type { LoadBalancer } from "../../model/arm.ts";
import { pluralize } from "../../util/text.ts";
import type { AzureStep } from "../azure-step.ts";
import type { Rejection } from "../../outcome.ts";
import type { LoadBalancerFragment } from "./fragment.ts";
import { isSettled, mergeLoadBalancer } from "./merge-load-balancer.ts";

export type Reconciled =
  | { readonly kind: "settled" }
  | {
      readonly kind: "act";
      readonly step: AzureStep;
      /** The whole load balancer goes with it. */
      readonly deletes: boolean;
    }
  | { readonly kind: "stale" }
  | { readonly kind: "reject"; readonly rejection: Rejection };

/** `seen` is absent where the load balancer is yet to be made. @design reconcileLoadBalancer */
export function reconcileLoadBalancer(
  id: string,
  seen: LoadBalancer | undefined,
  fragment: LoadBalancerFragment,
): Reconciled {
  if (isSettled(seen, fragment)) return { kind: "settled" };
  const {
    outcome,
    answers: [answer],
  } = mergeLoadBalancer(seen, [fragment]);
  if (answer?.kind === "refused") return { kind: "reject", rejection: answer.rejection };
  if (answer?.kind === "stale") return { kind: "stale" };
  if (outcome.kind === "unchanged") return { kind: "settled" };
  const step: AzureStep = { kind: "loadBalancer", id, fragment, why: whyOf(fragment, seen, outcome.kind) };
  return { kind: "act", step, deletes: outcome.kind === "delete" };
}

function whyOf(
  { owner, frontends, rules }: LoadBalancerFragment,
  seen: LoadBalancer | undefined,
  kind: string,
): string {
  if (kind === "delete") return `${owner.key} was the last on it`;
  if (frontends.length + rules.length === 0) return `${owner.key} is not served here`;
  const parts = `${pluralize(frontends.length, "frontend")} and ${pluralize(rules.length, "rule")} of ${owner.key}`;
  return seen === undefined ? `created for ${parts}` : parts;
}
