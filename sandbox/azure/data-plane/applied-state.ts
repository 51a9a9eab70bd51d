/**
 * The state that the data plane serves: each resource as its last successful operation left it. A write that is still
 * running, or that failed, changes what Resource Manager returns but not what the network does.
 */
import { apply, emptyState, type Change, type State } from "../model/index.ts";

/** The initial state: every resource that was provisioned once, since earlier operations are not known after a restart. */
export function appliedState(seen: State): State {
  const applied = emptyState();
  for (const resource of seen.resources.values()) {
    if (resource.provisioned) apply(applied, [{ kind: "put", resource }]);
  }
  return applied;
}

/** Evaluated per flow, so a change needs no new forwarding rules. */
const READ_LIVE = "Microsoft.Network/networkSecurityGroups";

/**
 * Copies succeeded changes from `seen` to `applied`. Returns whether the forwarding rules must be read again.
 */
export function applySucceeded(applied: State, seen: State, changes: readonly Change[]): boolean {
  let moved = false;
  for (const key of keysIn(changes)) {
    const resource = seen.resources.get(key);
    const known = applied.resources.get(key);
    if (resource === undefined && known !== undefined) apply(applied, [{ kind: "drop", key }]);
    else if (resource?.state === "Succeeded") apply(applied, [{ kind: "put", resource }]);
    else continue;
    moved ||= (resource ?? known)?.type !== READ_LIVE;
  }
  return moved;
}

function keysIn(changes: readonly Change[]): Set<string> {
  const keys = new Set<string>();
  for (const change of changes) {
    if (change.kind === "put") keys.add(change.resource.id.toLowerCase());
    else if ("key" in change) keys.add(change.key);
  }
  return keys;
}
