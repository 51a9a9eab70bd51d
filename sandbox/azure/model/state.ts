/**
 * The state of the emulated Azure: resources and operations, plus indexes derived from them. Only `apply` alters it; a
 * snapshot has everything but the indexes.
 */
import type { Resource } from "./changes.ts";
import type { Operation } from "./operation.ts";
import { withOptions, type OptionOverrides, type Options } from "./options.ts";
import type { Reference, Referrer } from "./references.ts";

export interface State {
  options: Options;
  /** Lower-case id → resource, in order of creation. Resource groups are resources too. */
  readonly resources: Map<string, Resource>;
  readonly operations: Map<string, Operation>;
  /** Operations that are still running, by id. */
  readonly running: Map<string, Operation>;
  /** Key of what a running operation locks → that operation's id. */
  readonly locks: Map<string, string>;
  nextSequence: number;
  /** Key of a collection (its path in lower case) → keys of its resources. */
  readonly collections: Map<string, Set<string>>;
  /** Key of a resource → its references. */
  readonly outgoing: Map<string, readonly Reference[]>;
  /** Key of a resource or child → its referrers, by id and kind of the referrer. */
  readonly incoming: Map<string, Map<string, Referrer>>;
  /** Key of a subnet → private address → id of its holder. */
  readonly addresses: Map<string, Map<string, string>>;
}

/** A state as plain JSON. */
export interface Snapshot {
  readonly options: Options;
  readonly nextSequence: number;
  readonly resources: readonly Resource[];
  readonly operations: readonly Operation[];
}

export function emptyState(options: OptionOverrides = {}): State {
  return {
    options: withOptions(options),
    resources: new Map(),
    operations: new Map(),
    running: new Map(),
    locks: new Map(),
    nextSequence: 1,
    collections: new Map(),
    outgoing: new Map(),
    incoming: new Map(),
    addresses: new Map(),
  };
}

export function snapshot(state: State): Snapshot {
  return {
    options: state.options,
    nextSequence: state.nextSequence,
    resources: [...state.resources.values()],
    operations: [...state.operations.values()],
  };
}
