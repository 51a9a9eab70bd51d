/** Journals the model's changes, so that a killed server restarts with the same state. */
import { openJournal } from "../../shared/journal.ts";
import type { Change } from "../model/contract.ts";
import type { EmbeddedApi } from "../model/embedded-api.ts";
import { restore, snapshot, type StateSnapshot } from "../model/snapshot.ts";

/** Beyond this size the journal is replaced by a snapshot, unless the state itself is about as large. */
const COMPACT_FROM_BYTES = 32 * 1024 * 1024;

export interface Durable {
  /** Journals the changes; they survive a kill when this returns. */
  record(changes: readonly Change[]): void;
  close(): void;
}

/** Restores the state from the directory. The caller then records every change before it is applied. */
export function openDurable(directory: string, api: EmbeddedApi, compactFromBytes = COMPACT_FROM_BYTES): Durable {
  const { snapshot: before, entries, journal } = openJournal<StateSnapshot, readonly Change[]>(directory);
  restore(api.state, before, entries.flat());
  let compactAtBytes = compactFromBytes;
  return {
    record(changes) {
      // The state does not include the new changes yet: the snapshot comes first, the changes follow in the journal.
      if (journal.size > compactAtBytes) {
        const whole = snapshot(api.state);
        journal.compact(whole);
        compactAtBytes = Math.max(compactFromBytes, 4 * JSON.stringify(whole).length);
      }
      journal.append(changes);
    },
    close: () => journal.close(),
  };
}
