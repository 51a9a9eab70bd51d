/** Journals the model's changes, so that a killed server restarts with the same state. */
import { openJournal } from "../../shared/journal.ts";
import type { Change } from "../model/contract.ts";
import type { EmbeddedApi } from "../model/embedded-api.ts";
import { restore, snapshot, type StateSnapshot } from "../model/snapshot.ts";

/** Beyond this size the journal is replaced by a snapshot, unless the state itself is about as large. */
const COMPACT_AT_BYTES = 32 * 1024 * 1024;

export interface Durable {
  /** Journals the changes; they survive a kill when this returns. Throws `JournalWriteError` if they cannot be kept. */
  record(changes: readonly Change[]): void;
  close(): void;
}

export interface DurableOptions {
  /** Opens a damaged journal without its damaged record and those after it. */
  readonly acceptLoss: boolean;
  readonly log: (line: string) => void;
  readonly compactAtBytes?: number;
}

/** Restores the state from the directory. The caller then records every change before it is applied. */
export function openDurable(directory: string, api: EmbeddedApi, options: DurableOptions): Durable {
  const journalOptions = { compactAtBytes: COMPACT_AT_BYTES, ...options };
  const {
    snapshot: before,
    entries,
    journal,
  } = openJournal<StateSnapshot, readonly Change[]>(directory, journalOptions);
  restore(api.state, before, entries.flat());
  return {
    record(changes) {
      // The state does not include the new changes yet: the snapshot comes first, the changes follow in the journal.
      journal.compactIfLong(() => snapshot(api.state));
      journal.append(changes);
    },
    close: () => journal.close(),
  };
}
