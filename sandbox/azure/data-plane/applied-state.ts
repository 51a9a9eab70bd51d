/**
 * Azure as the network has it: each resource as its last successful operation left it. A write that is still running,
 * or that failed, has changed what Resource Manager shows but not what packets meet.
 */
import { apply, emptyState, type Change, type State } from "../model/index.ts";

/** At a start nobody knows what ran before: everything that was provisioned once counts. */
export function appliedState(seen: State): State {
  const applied = emptyState();
  for (const resource of seen.resources.values()) {
    if (resource.provisioned) apply(applied, [{ kind: "put", resource }]);
  }
  return applied;
}

/** What is read anew for every flow: a change of it changes no rule. */
const READ_LIVE = "Microsoft.Network/networkSecurityGroups";

/**
 * Brings the applied state up to changes that were just made to the seen one; says whether anything took effect that
 * rules may follow from.
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
