/**
 * The part of a shared load balancer that one Service owns, as data. Made by `desired-load-balancer.ts`
 * (`absentLoadBalancer` where the Service should own nothing there), put in by `merge-load-balancer.ts`.
 */
import type { Frontend, LoadBalancingRule, Probe } from "../../model/arm.ts";
import type { LoadBalancerLimits } from "../../config/cluster-config.ts";
import type { Service } from "../../model/kubernetes.ts";
import type { Owner } from "../../outcome.ts";

export interface LoadBalancerFragment {
  readonly owner: Owner;
  /** What the load balancer is made of when it does not exist yet; absent: never create it. */
  readonly shell: LoadBalancerShell | undefined;
  readonly frontends: readonly Frontend[];
  readonly probes: readonly Probe[];
  readonly rules: readonly LoadBalancingRule[];
  /** Pools that must exist before rules may name them. */
  readonly pools: readonly string[];
  /** Names of pools for this Service alone: one comes with the first rule that names it and goes with the last. */
  readonly ownPools?: readonly string[];
  /**
   * Frontends named after another Service that has left them. This Service was using them, so they go together with
   * its use, unless another owner needs them by then.
   */
  readonly releases: readonly string[];
  /**
   * Names, in lower case, of other owners' frontends that this Service is served at, whether or not a rule of it stands
   * there; absent: none.
   */
  readonly shares?: readonly string[];
  /** Rules of the Service's former incarnation: they make way for its own; absent: there are none. */
  readonly replaces?: readonly string[];
  /** Frontends that stay whatever rules name them; absent: none. */
  readonly held?: readonly HeldFrontend[];
  /** What may go with the load balancer once it has no frontend; absent: it stays, another tool fills its pools. */
  readonly disposable: Disposable | undefined;
  /** How full the load balancer may be with it; absent: as full as may be. */
  readonly limits?: LoadBalancerLimits;
  /** Where it has no room it is placed anew, on another load balancer of the fleet, instead of being refused. */
  readonly mayGoElsewhere?: boolean;
  /** Names of nodes that the member list must hold first: pools that another tool was to make are made with it. */
  readonly records?: readonly string[];
  /** The other Services, for texts only: no decision reads them. */
  readonly neighbours?: readonly Service[];
  /** Present in the cluster's own fragment alone, which replaces the members of a pool: see `migrate-pools.ts`. */
  readonly migration?: PoolMigration;
}

/** The owner of what no Service owns. No part of a load balancer bears its base. */
export const CLUSTER: Owner = { key: "", uid: "", base: "the-cluster" };

/** Names of pools. */
export interface PoolMigration {
  /** All rules of Services that send to the one pool are to send to the other. */
  readonly switch?: { readonly from: string; readonly to: string };
  /** Pools that go, once no rule sends to them and only own entries are in them. */
  readonly drops?: Disposable;
}

export interface HeldFrontend {
  /** In lower case. */
  readonly frontend: string;
  /** `undefined`: a private link service that is about to move to another frontend. */
  readonly by: FrontendHolder | undefined;
}

export type FrontendHolder =
  /** One that is not this cluster's: Azure lets its frontend not go. */
  | { readonly kind: "privateLink"; readonly name: string }
  /** Another Service whose status has the address of the frontend. `base`: of its names, in lower case. */
  | { readonly kind: "service"; readonly key: string; readonly base: string };

export interface LoadBalancerShell {
  readonly id: string;
  readonly name: string;
  readonly location: string;
  readonly sku: { readonly name: string };
  readonly extendedLocation?: { readonly name: string; readonly type: string };
  readonly tags: Readonly<Record<string, string>>;
  /** Prefixes of tags that survive although they are not configured; empty: every tag survives. */
  readonly systemTags: readonly string[];
}

/** The cluster's pools, and which of their entries are ours. Any other pool or entry keeps the load balancer alive. */
export interface Disposable {
  readonly pools: readonly string[];
  /** See `isOwnEntry` of `backend-pool/desired-backend-pool.ts`. */
  readonly entries: ReadonlySet<string>;
  /**
   * Machines are in its pools, and this Service was not the last when it decided to leave, so it did not take them out.
   * Azure deletes no load balancer that a scale set names, and takes network interfaces out without telling.
   */
  readonly hasMachines?: boolean;
}
