/**
 * Who should stand in one backend pool, as data. Membership belongs to the cluster's pool, not to a Service:
 * every Service of a load balancer asks for the same one.
 */
import type { AdminState, Family } from "../arm.ts";

export interface MemberIntent {
  /** The node's name: what the pool entry is called. */
  readonly name: string;
  readonly ipAddress: string;
  readonly adminState: AdminState;
}

export interface MembershipFragment {
  readonly pool: string;
  readonly family: Family;
  readonly members: readonly MemberIntent[];
  /** Names of entries that we put there earlier (the durable member list): ours although no node bears the name. */
  readonly known: readonly string[];
  /** The VNet the addresses live in. */
  readonly virtualNetworkId: string;
}
