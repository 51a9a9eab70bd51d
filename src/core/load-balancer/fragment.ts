/**
 * The part of a shared load balancer that one Service owns, as data. Empty lists say "nothing of this Service".
 * Who makes it: `desired-fragment.ts`. Who puts it in: `merge-load-balancer.ts`.
 */
import type { Frontend, LoadBalancingRule, Probe } from "../arm.ts";
import type { Owner } from "../service/service-intent.ts";

export interface LoadBalancerFragment {
  readonly owner: Owner;
  /** What the load balancer is made of when it does not exist yet; absent: never create it. */
  readonly shell: LoadBalancerShell | undefined;
  readonly frontends: readonly Frontend[];
  readonly probes: readonly Probe[];
  readonly rules: readonly LoadBalancingRule[];
  /** Pools that must exist before rules may name them. */
  readonly pools: readonly string[];
}

export interface LoadBalancerShell {
  readonly name: string;
  readonly location: string;
  readonly sku: { readonly name: string };
  readonly extendedLocation?: { readonly name: string; readonly type: string };
  readonly tags: Readonly<Record<string, string>>;
}
