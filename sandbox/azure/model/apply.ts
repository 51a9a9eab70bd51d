/** Makes changes true. Nothing else alters a state. */
import type { Change } from "./changes.ts";
import type { Snapshot, State } from "./state.ts";
import { emptyState } from "./state.ts";

export function apply(state: State, changes: readonly Change[]): void {
  for (const change of changes) if (change.kind === "options") state.options = change.options;
}

export function restore(snapshot: Snapshot): State {
  return emptyState(snapshot.options);
}
