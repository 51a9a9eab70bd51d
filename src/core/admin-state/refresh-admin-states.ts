/**
 * A membership that was decided a while ago, with the admin states of now. A taint may have come or gone since, and a
 * node that has gone altogether has no say any more: what stands in the pool for it stays, until it is removed.
 */
import type { MemberIntent, BackendPoolFragment } from "../resources/backend-pool/fragment.ts";
import { desiredAdminState } from "./desired-admin-state.ts";
import type { NodeFinder } from "./reconcile-admin-state.ts";

/** Answers the fragment itself where nothing has changed. */
export function refreshAdminStates(fragment: BackendPoolFragment, nodeOf: NodeFinder): BackendPoolFragment {
  const members = fragment.members.map((member) => refreshed(member, nodeOf));
  return members.every((member, at) => member === fragment.members[at]) ? fragment : { ...fragment, members };
}

function refreshed(member: MemberIntent, nodeOf: NodeFinder): MemberIntent {
  const node = nodeOf({ name: member.name, properties: {} });
  const adminState = node && desiredAdminState(node);
  return adminState === member.adminState ? member : { ...member, adminState };
}
