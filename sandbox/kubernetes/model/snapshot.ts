/** Converts the state to plain JSON and back. History before the snapshot is not kept: older watches must start again. */
import type { Change, KubeObject } from "./contract.ts";
import { applyChange, compact, type State } from "./state.ts";

export interface StateSnapshot {
  readonly revision: number;
  readonly collections: Readonly<Record<string, readonly KubeObject[]>>;
}

export function snapshot(state: State): StateSnapshot {
  const collections = [...state.collections]
    .map(([name, { objects }]) => [name, [...objects.values()]] as const)
    .filter(([, objects]) => objects.length > 0);
  return { revision: state.revision, collections: Object.fromEntries(collections) };
}

/** Restores an empty state from a snapshot and the changes after it. */
export function restore(state: State, before: StateSnapshot | undefined, changes: readonly Change[]): void {
  for (const [collection, objects] of Object.entries(before?.collections ?? {})) {
    for (const object of objects) applyChange(state, { revision: state.revision, type: "ADDED", collection, object });
  }
  if (before !== undefined) {
    state.revision = before.revision;
    compact(state, before.revision);
  }
  for (const change of changes) applyChange(state, change);
}
