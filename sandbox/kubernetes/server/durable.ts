/** Keeps the model's changes in a journal, so that a killed server comes back as it was. */
import { openJournal } from "../../shared/journal.ts";
import type { Change } from "../model/contract.ts";
import type { EmbeddedApi } from "../model/embedded-api.ts";
import { restore, snapshot, type StateSnapshot } from "../model/snapshot.ts";

/** Past this size the journal becomes a snapshot, unless the state itself is about that large. */
const COMPACT_FROM_BYTES = 32 * 1024 * 1024;

export interface Durable {
  /** Writes the changes down; they are safe from a kill when this returns. */
  record(changes: readonly Change[]): void;
  close(): void;
}

/** Brings back what the directory holds, and records from now on what the model is about to change. */
export function openDurable(directory: string, api: EmbeddedApi, compactFromBytes = COMPACT_FROM_BYTES): Durable {
  const { snapshot: before, entries, journal } = openJournal<StateSnapshot, readonly Change[]>(directory);
  restore(api.state, before, entries.flat());
  let compactAtBytes = compactFromBytes;
  return {
    record(changes) {
      // Between two requests the state is whole: the snapshot is taken before the new changes, which follow it.
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
