/**
 * Which body a batch is merged into, and what must be written for it. Pure: `attempt.ts` reads and writes.
 *
 *   what is known                                   | base
 *   ------------------------------------------------|--------------------------------------------------------------
 *   last seen, settled, and the merge is good news  | what was last seen: a conflict tells when that is outdated
 *   anything else                                   | what a read of Azure shows
 *   … and it shows a failed write of this lane      | what was there before that write (`rollback.ts`)
 *   … and the merge then changes nothing, although  | what was last seen: the read may be older, which the ETag tells
 *     into what was last seen it would              |
 */
import type { Merged } from "../../core/outcome.ts";
import type { ArmBody } from "./commit-types.ts";
import { mergeIntoWhole, needsFreshRead } from "./merge-batch.ts";
import { isBroken, isChanging, isPart } from "./resource-parts.ts";
import { takenBack, type Rollback } from "./rollback.ts";
import type { Ticket } from "./ticket.ts";

/** What earlier attempts in a lane left to the next one. */
export interface PriorAttempt {
  /** Nothing that was seen before counts any more. */
  readonly mustReread: boolean;
  readonly rollback: Rollback | undefined;
}

export const NO_PRIOR_ATTEMPT: PriorAttempt = { mustReread: false, rollback: undefined };

/** `whole` is the base, under the ETag that must still hold. */
export type Base =
  /** Write what the merge came to. `null`: nothing is there yet. */
  | { readonly write: "outcome"; readonly whole: ArmBody | null; readonly merged: Merged<ArmBody> }
  /** Write the base itself, although the merge changes nothing: only a write makes a failed resource good. */
  | { readonly write: "whole"; readonly whole: ArmBody; readonly merged: Merged<ArmBody> }
  /** Write the base itself, then choose anew: Azure takes no part of what failed. */
  | { readonly write: "wholeFirst"; readonly whole: ArmBody };

/** Without a read; `undefined` where one is needed. `last`: what was last seen, `undefined` where that is unknown. */
export function baseFromLastSeen(
  tickets: readonly Ticket[],
  last: ArmBody | null | undefined,
  { mustReread }: PriorAttempt,
): Base | undefined {
  const isUsable =
    !mustReread && last !== undefined && !isChanging(last) && !tickets.some(({ readFirst }) => readFirst);
  if (!isUsable) return undefined;
  const merged = mergeIntoWhole(last, tickets);
  return needsFreshRead(merged) ? undefined : { whole: last, merged, write: "outcome" };
}

/** `read`: what Azure shows now; `null`: nothing is there. */
export function baseFromRead(
  tickets: readonly Ticket[],
  read: ArmBody | null,
  last: ArmBody | null | undefined,
  { mustReread, rollback }: PriorAttempt,
): Base {
  const before = takenBack(rollback, read);
  const whole = before ?? read;
  const isTakenBack = before !== undefined;
  if (isPart(tickets[0]?.id ?? "") && whole !== null && (isTakenBack || isBroken(read)))
    return { write: "wholeFirst", whole };
  const merged = mergeIntoWhole(whole, tickets);
  if (merged.outcome.kind !== "unchanged") return { whole, merged, write: "outcome" };
  const newer = mustReread ? undefined : newerBase(tickets, last);
  if (newer !== undefined) return newer;
  const mustWrite = isTakenBack || (mustReread && isBroken(read));
  return mustWrite && whole !== null ? { write: "whole", whole, merged } : { write: "outcome", whole, merged };
}

/** Where the batch would change what was last seen, that decides: if it is the older of the two, the write conflicts. */
function newerBase(tickets: readonly Ticket[], last: ArmBody | null | undefined): Base | undefined {
  if (last?.etag === undefined || isChanging(last)) return undefined;
  const merged = mergeIntoWhole(last, tickets);
  return merged.outcome.kind === "unchanged" ? undefined : { whole: last, merged, write: "outcome" };
}
