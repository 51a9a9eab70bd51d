/**
 * The audit log: records every request with its caller, answer and changes, and counts requests by resource type and
 * verb. Polls of an operation are counted separately: they are not reads of a resource.
 */
import type { OperationKind } from "../model/index.ts";
import type { Difference } from "./diff.ts";

export interface AuditEntry {
  readonly sequence: number;
  readonly time: string;
  /** Client id; `null` for requests without a token. */
  readonly caller: string | null;
  readonly method: string;
  readonly path: string;
  readonly apiVersion: string | null;
  /** Resource type and verb; `null` for polls, sign-ins and unknown paths. */
  readonly type: string | null;
  readonly verb: OperationKind["verb"] | null;
  readonly poll: boolean;
  /** 0: the connection was cut. */
  readonly status: number;
  /** Code of the error body. */
  readonly code: string | null;
  readonly durationMs: number;
  /** From arrival to the end of the operation that it began, as drawn; `null` where it began none. */
  readonly operationMs: number | null;
  readonly ifMatch: string | null;
  /** Ids of the faults that hit the request. */
  readonly faults: readonly string[];
  /** For writes that changed something. */
  readonly diff: readonly { readonly id: string; readonly changes: readonly Difference[] }[];
}

interface Counters {
  /** Type → verb → count. */
  readonly requests: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly polls: number;
  /** Sign-ins, discovery, unknown paths. */
  readonly other: number;
  /** Answers of 400 and above, by error code. */
  readonly refusals: Readonly<Record<string, number>>;
}

export interface AuditQuery {
  /** Entries after this sequence number. */
  readonly after?: number;
  readonly method?: string;
  /** Substring of the path, case-insensitive. */
  readonly path?: string;
  readonly limit?: number;
}

export interface AuditLog {
  record(entry: Omit<AuditEntry, "sequence">): void;
  entries(query?: AuditQuery): readonly AuditEntry[];
  counters(): Counters;
  /** Clears entries and counters. */
  clear(): void;
}

/** Older entries are dropped; counters are kept. */
const KEPT_ENTRIES = 20_000;

export function auditLog(): AuditLog {
  let entries: AuditEntry[] = [];
  let sequence = 0;
  let tally = emptyTally();
  return {
    record(entry) {
      entries.push({ ...entry, sequence: ++sequence });
      if (entries.length > KEPT_ENTRIES * 1.1) entries = entries.slice(-KEPT_ENTRIES);
      count(tally, entry);
    },
    entries: (query = {}) => {
      const found = entries.filter((entry) => matches(entry, query));
      return query.limit === undefined ? found : found.slice(-query.limit);
    },
    counters: () => structuredClone(tally),
    clear() {
      entries = [];
      tally = emptyTally();
    },
  };
}

interface Tally {
  requests: Record<string, Record<string, number>>;
  polls: number;
  other: number;
  refusals: Record<string, number>;
}

function emptyTally(): Tally {
  return { requests: {}, polls: 0, other: 0, refusals: {} };
}

function count(tally: Tally, entry: Omit<AuditEntry, "sequence">): void {
  if (entry.poll) tally.polls += 1;
  else if (entry.type === null || entry.verb === null) tally.other += 1;
  else {
    const verbs = (tally.requests[entry.type] ??= {});
    verbs[entry.verb] = (verbs[entry.verb] ?? 0) + 1;
  }
  if (entry.status < 400) return;
  const code = entry.code ?? String(entry.status);
  tally.refusals[code] = (tally.refusals[code] ?? 0) + 1;
}

function matches(entry: AuditEntry, query: AuditQuery): boolean {
  return (
    entry.sequence > (query.after ?? 0) &&
    (query.method === undefined || entry.method === query.method) &&
    (query.path === undefined || entry.path.toLowerCase().includes(query.path.toLowerCase()))
  );
}
