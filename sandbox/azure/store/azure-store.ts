/**
 * Runs the model: holds its state, completes due operations, and journals every change before the response is sent.
 * Also keeps each resource's version before its last write, for stale reads and for the audit log's diffs.
 */
import {
  apply,
  decide,
  emptyState,
  nextSettleAtMs,
  restore,
  settle,
  setOptions,
  snapshot,
  withOptions,
  type ArmRequest,
  type ArmResponse,
  type Change,
  type Draws,
  type OptionOverrides,
  type Options,
  type Resource,
  type Snapshot,
  type State,
} from "../model/index.ts";
import { openJournal, type Journal } from "../../shared/journal.ts";

/** Beyond this size the journal is replaced by a snapshot, unless the state itself is about as large. */
const COMPACT_AT_BYTES = 16 * 1024 * 1024;

export interface Touched {
  readonly before: Resource | undefined;
  readonly after: Resource | undefined;
}

interface Handled {
  readonly response: ArmResponse;
  /** The resources that the request itself changed; empty for reads and refusals. */
  readonly touched: readonly Touched[];
}

export interface AzureStore {
  /** Throws `JournalWriteError` if the change cannot be kept; then nothing changed. The same holds for `settle`. */
  handle(request: ArmRequest, draws: Draws): Handled;
  /** Answers a read with the state before the last write of the resource. */
  readStale(request: ArmRequest, draws: Draws): ArmResponse;
  readonly options: Options;
  setOptions(overrides: OptionOverrides): void;
  snapshot(): Snapshot;
  /** Calls the listener after changes are applied. Returns the state, for reading. */
  watch(watcher: (changes: readonly Change[]) => void): State;
  /** Completes due operations. Every request does so too; a watcher need not wait for one. */
  settle(): void;
  /** When the next operation ends; `undefined` while none runs. */
  readonly nextSettleAtMs: number | undefined;
  close(): void;
}

export interface AzureStoreOptions {
  /** Directory of the journal; `undefined`: memory only. */
  readonly directory: string | undefined;
  /** Opens a damaged journal without its damaged record and those after it. */
  readonly acceptJournalLoss?: boolean;
  readonly log?: (line: string) => void;
  readonly options: OptionOverrides;
  readonly nowMs: () => number;
}

type StateJournal = Journal<Snapshot, readonly Change[]>;

export function openAzureStore(wanted: AzureStoreOptions): AzureStore {
  const { options, nowMs } = wanted;
  const { state, journal } = load(wanted);
  const previous = new Map<string, Resource | undefined>();
  const watchers: ((changes: readonly Change[]) => void)[] = [];

  function commit(changes: readonly Change[]): Touched[] {
    if (changes.length === 0) return [];
    journal?.append(changes);
    const before = new Map(keysWritten(changes).map((key) => [key, state.resources.get(key)]));
    apply(state, changes);
    for (const [key, resource] of before) previous.set(key, resource);
    journal?.compactIfLong(() => snapshot(state));
    for (const tell of watchers) tell(changes);
    return [...before].map(([key, resource]) => ({ before: resource, after: state.resources.get(key) }));
  }

  function settleNow(): void {
    commit(settle(state, nowMs()));
  }

  commit(setOptions(withOptions(options, state.options)));
  return {
    handle(request, draws) {
      settleNow();
      const { response, changes } = decide(state, request, draws);
      return { response, touched: commit(changes) };
    },
    readStale(request, draws) {
      settleNow();
      return decide(staleState(state, previous, request.path), request, draws).response;
    },
    get options() {
      return state.options;
    },
    setOptions(overrides) {
      commit(setOptions(withOptions(overrides, state.options)));
    },
    snapshot() {
      settleNow();
      return snapshot(state);
    },
    watch(watcher) {
      watchers.push(watcher);
      return state;
    },
    settle: settleNow,
    get nextSettleAtMs() {
      return nextSettleAtMs(state);
    },
    close() {
      journal?.close();
    },
  };
}

function load({ directory, acceptJournalLoss = false, log = () => {} }: AzureStoreOptions): {
  state: State;
  journal: StateJournal | undefined;
} {
  if (directory === undefined) return { state: emptyState(), journal: undefined };
  const opened = openJournal<Snapshot, readonly Change[]>(directory, {
    compactAtBytes: COMPACT_AT_BYTES,
    acceptLoss: acceptJournalLoss,
    log,
  });
  const state = opened.snapshot === undefined ? emptyState() : restore(opened.snapshot);
  for (const changes of opened.entries) apply(state, changes);
  return { state, journal: opened.journal };
}

/** Keys of the resources whose content changes; a new provisioning state alone is not a write. */
function keysWritten(changes: readonly Change[]): string[] {
  const keys = new Set<string>();
  for (const change of changes) {
    if (change.kind === "put") keys.add(change.resource.id.toLowerCase());
    if (change.kind === "child" || change.kind === "leave" || change.kind === "drop") keys.add(change.key);
  }
  return [...keys];
}

/**
 * The state with the resources at or below the path, and the parent of a child path, as before their last write. The
 * resource group is unchanged.
 */
function staleState(state: State, previous: ReadonlyMap<string, Resource | undefined>, path: string): State {
  const asked = path.toLowerCase().replace(/\/$/, "");
  const resources = new Map(state.resources);
  for (const [key, resource] of previous) {
    const isParent = key.includes("/providers/") && asked.startsWith(`${key}/`);
    if (key !== asked && !key.startsWith(`${asked}/`) && !isParent) continue;
    if (resource === undefined) resources.delete(key);
    else resources.set(key, resource);
  }
  return restore({ ...snapshot(state), resources: [...resources.values()] });
}
