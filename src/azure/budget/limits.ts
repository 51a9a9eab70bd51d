/**
 * How much Azure grants, and how urgent calls are. Data for the budget, for the lanes and for their callers.
 *
 *   priority | may spend all but | for
 *   ---------|-------------------|-----------------------------------------------
 *   drain    | nothing           | a node that is going away
 *   delete   | 2.5 %             | what must not stay open or be paid for longer
 *   create   | 5 %               | what a user waits for
 *   resync   | 20 %              | what can wait
 */
export type CallKind = "reads" | "writes" | "deletes";
export type Priority = "drain" | "delete" | "create" | "resync";

/** Lower is more urgent. */
export const RANK: Readonly<Record<Priority, number>> = { drain: 0, delete: 1, create: 2, resync: 3 };
/** The share of a bucket that calls of each priority leave to more urgent ones. */
export const RESERVED: Readonly<Record<Priority, number>> = { drain: 0, delete: 0.025, create: 0.05, resync: 0.2 };

export interface BudgetLimits {
  /** Tokens and their refill, per kind. */
  readonly buckets: Readonly<Record<CallKind, { readonly size: number; readonly perSecond: number }>>;
  /** Calls in any five minutes; `changes` are writes and deletes together. */
  readonly window: { readonly reads: number; readonly changes: number };
  /** Of what Azure grants; absent: all of it. What is left unused of the rest is left to other clients. */
  readonly share?: number;
}

/** What Azure grants a principal in an ordinary subscription. */
export const AZURE_LIMITS: BudgetLimits = {
  buckets: {
    reads: { size: 250, perSecond: 25 },
    writes: { size: 200, perSecond: 10 },
    deletes: { size: 200, perSecond: 10 },
  },
  window: { reads: 10_000, changes: 1_000 },
};

/** For a client that must leave the rest to others. */
export function shareOf({ buckets, window }: BudgetLimits, share: number): BudgetLimits {
  const part = (kind: CallKind) => ({ size: buckets[kind].size * share, perSecond: buckets[kind].perSecond * share });
  return {
    buckets: { reads: part("reads"), writes: part("writes"), deletes: part("deletes") },
    window: { reads: Math.floor(window.reads * share), changes: Math.floor(window.changes * share) },
    share,
  };
}
