/**
 * The nodes that should be in one backend pool, as data. Membership belongs to the pool, not to a Service: every Service of
 * a pool asks for the same one.
 * Made by `desired-backend-pool.ts`, put in by `merge-backend-pool.ts`.
 */
import type { AdminState, Family } from "../../model/arm.ts";

export interface MemberIntent {
  /** The node's name: what the pool entry is called. */
  readonly name: string;
  readonly ipAddress: string;
  /** `undefined` where admin state is not ours to decide: whatever is there stays. */
  readonly adminState: AdminState | undefined;
}

export interface BackendPoolFragment {
  readonly pool: string;
  readonly family: Family;
  readonly members: readonly MemberIntent[];
  /** No members means that the nodes, which are known, belong elsewhere: the pool is emptied. */
  readonly mayBeEmpty?: boolean;
  /** It is to hold network interfaces, which name no VNet: that of the addresses goes along with them. */
  readonly leavesNetwork?: boolean;
  /** By address: the nodes that say they have it, oldest first, where there are several. See `contested-nodes.ts`. */
  readonly contested?: ReadonlyMap<string, readonly string[]>;
  /** Names, in lower case, of nodes that are no members: an entry under such a name stands for no other node. */
  readonly outsiders?: ReadonlySet<string>;
  /** Which entries are ours to change and remove: see `desired-backend-pool.ts`. */
  readonly own: ReadonlySet<string>;
  /** Names, in lower case, of own entries that stay although no node stands for them: see `brake/pool-brake.ts`. */
  readonly keep?: ReadonlySet<string>;
  /** Network interfaces in the pool are replaced by their addresses, by Azure's own action. */
  readonly migrates?: boolean;
  /** The VNet the addresses live in. */
  readonly virtualNetworkId: string;
}
