/**
 * The shape of an entry in the table of resource kinds: everything that differs from kind to kind, for the writers, the
 * plan and the cache alike. An entry decides nothing about what a Service wants; that is the folder's `desired-*.ts`.
 */
import type { NodeFinder } from "../admin-state/reconcile-admin-state.ts";
import type { PublicIP } from "../model/arm.ts";
import type { Merged, Owner } from "../outcome.ts";
import type { ObservedAzure } from "./observed-azure.ts";

export interface ArmType {
  /** `Microsoft.Network/loadBalancers/backendAddressPools`. */
  readonly type: string;
  /** What its resources are called in texts. */
  readonly noun: string;
  /**
   * `list`: with all others of its parent or resource group; `single`: by its id;
   * `part`: not by itself, since it lives in the body, and under the ETag, of the resource that its id begins with.
   */
  readonly read: "list" | "single" | "part";
  /** Appended to the path of a list. */
  readonly listQuery?: string;
  /** It is in the subscription of the cluster; absent: in that of the network. */
  readonly isInClusterSubscription?: true;
}

/**
 * How decisions see a kind. `byGroup`: in lists of whole resource groups, each read where a decision asks for it; `own`: in
 * a field of `ObservedAzure` of its own, or in that of another kind.
 */
type Observation = "byGroup" | "own";

export interface ResourceKind<Fragment, Body, Observed extends Observation = Observation> {
  /** What people call what is written. */
  readonly noun: string;
  /** The value of the label `kind` of `azlb_group_commit_fragments`. */
  readonly metricLabel: string;
  /** The types of what is written. */
  readonly types: readonly [ArmType, ...ArmType[]];
  /** The Azure actions that its writes, and the reads before them, need. */
  readonly rights: readonly string[];
  /** The Service that owns the fragment; `undefined` for what the cluster owns: there the newest fragment counts. */
  readonly ownerOf: ((fragment: Fragment) => Owner) | undefined;
  /** Of the time that a write takes: how long the first write to a resource in demand waits for others to join it. */
  readonly batchWindowShare: number;
  /** Puts all fragments into what is there (`undefined`: nothing is). The plan and the group commit call the same one. */
  readonly merge: (seen: Body | undefined, fragments: readonly Fragment[]) => Merged<Body>;
  /** What a PUT of the body sends: all of it but what Azure alone writes. */
  readonly requestBody: (body: Body) => object;
  /** A fragment that was decided a while ago, with the admin states of now; `undefined`: it carries none. */
  readonly refresh: ((fragment: Fragment, nodeOf: NodeFinder) => Fragment) | undefined;
  readonly observed: Observed;
  readonly find: (azure: ObservedAzure, id: string) => Body | undefined;
  /** Azure as it will be seen once `body` is written, or once the resource is deleted (`undefined`). */
  readonly replace: (azure: ObservedAzure, id: string, body: Body | undefined) => ObservedAzure;
  /** Several at once, by their ids, where that costs less than one after the other. */
  readonly replaceAll?: (azure: ObservedAzure, bodies: ReadonlyMap<string, Body | undefined>) => ObservedAzure;
  /** How a write changes public IPs, which is known without reading them; `undefined`: it does not. */
  readonly publicIPsAfter: ((id: string, body: Body | undefined) => (publicIP: PublicIP) => PublicIP) | undefined;
}

/** As a rule: a quarter. */
export const USUAL_WINDOW_SHARE = 0.25;

export function rightsOn(type: string, ...verbs: readonly string[]): string[] {
  return verbs.map((verb) => `${type}/${verb}`);
}
