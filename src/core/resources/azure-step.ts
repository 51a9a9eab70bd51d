/**
 * Writes to Azure as data, one type per kind of resource. A step never carries a whole shared resource: it carries the
 * fragment that its owner wants there, and the writer merges all fragments that wait for the same resource at the
 * moment of the write. What can be done with each kind is in the table of `kinds.ts`.
 */
import type { BackendPool, LoadBalancer, PublicIP, SecurityGroup } from "../model/arm.ts";
import type { BackendPoolFragment } from "./backend-pool/fragment.ts";
import type { LoadBalancerFragment } from "./load-balancer/fragment.ts";
import type { NicPoolsFragment } from "./nic-pools/fragment.ts";
import type { Attachable } from "./nic-pools/merge-nic-pools.ts";
import type { PublicIPFragment } from "./public-ip/fragment.ts";
import type { SecurityGroupFragment } from "./security-group/fragment.ts";

/** What a step of each kind carries. */
export interface Fragments {
  readonly publicIP: PublicIPFragment;
  readonly loadBalancer: LoadBalancerFragment;
  readonly backendPool: BackendPoolFragment;
  readonly nicPools: NicPoolsFragment;
  readonly securityGroup: SecurityGroupFragment;
}

/** What is PUT: `nicPools` writes the network interface, scale set or scale-set instance that joins the pools. */
export interface Bodies {
  readonly publicIP: PublicIP;
  readonly loadBalancer: LoadBalancer;
  readonly backendPool: BackendPool;
  readonly nicPools: Attachable;
  readonly securityGroup: SecurityGroup;
}

export type Kind = keyof Fragments;

/**
 * A write to one Azure resource, on behalf of one owner. `id` is the resource, or the part of one, that is PUT or
 * deleted.
 */
export type StepOf<K extends Kind> = {
  readonly [Each in K]: {
    readonly kind: Each;
    readonly id: string;
    readonly fragment: Fragments[Each];
    readonly why: string;
  };
}[K];

export type AzureStep = StepOf<Kind>;

export function isStepOf<K extends Kind>(kind: K, step: { readonly kind: Kind }): step is StepOf<K> {
  return step.kind === kind;
}
