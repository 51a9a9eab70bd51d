/**
 * Which body a batch is merged into, and what must be written for it. Pure: `attempt.ts` reads and writes.
 *
 *   what is known                                   | base
 *   ------------------------------------------------|--------------------------------------------------------------
 *   last seen, settled, and the merge is good news  | what was last seen: a conflict tells when that is outdated
 *   anything else                                   | what a read of Azure shows
 *   … and it shows a failed write of this lane      | what was there before that write (`Rollback`)
 *   … and the merge then changes nothing, although  | what was last seen: the read may be older, which the ETag tells
 *     into what was last seen it would              |
 */
import { isPart, wholeOf } from "../../core/model/ids.ts";
import type { Merged } from "../../core/outcome.ts";
import { field, isBroken, isChanging, textField } from "../arm/response-body.ts";
import type { ArmBody } from "./commit-types.ts";
import type { Ticket } from "./write-kind.ts";

/** What earlier attempts in a lane left to the next one. */
export interface PriorAttempt {
  /** Nothing that was seen before counts any more. */
  readonly mustReread: boolean;
  readonly rollback: Rollback | undefined;
}

export const NO_PRIOR_ATTEMPT: PriorAttempt = { mustReread: false, rollback: undefined };

/** `whole` is the base, under the ETag that must still hold. */
export type Base =
  | MergedBase
  /** Write the base itself, although the merge changes nothing: only a write makes a failed resource good. */
  | { readonly write: "whole"; readonly whole: ArmBody; readonly merged: Merged<ArmBody> }
  /** Write the base itself, then choose anew: Azure takes no part of what failed. */
  | { readonly write: "wholeFirst"; readonly whole: ArmBody };

/** Write what the merge came to. */
export interface MergedBase {
  readonly write: "outcome";
  /** `null`: nothing is there yet. */
  readonly whole: ArmBody | null;
  readonly merged: Merged<ArmBody>;
  /** What the batch names, the whole or its part, is yet to be made. */
  readonly isNew: boolean;
}

/** Without a read; `undefined` where one is needed. `last`: what was last seen, `undefined` where that is unknown. */
export function baseFromLastSeen(
  tickets: readonly Ticket[],
  last: ArmBody | null | undefined,
  { mustReread }: PriorAttempt,
): Base | undefined {
  const isUsable =
    !mustReread && last !== undefined && !isChanging(last) && !tickets.some(({ readFirst }) => readFirst);
  if (!isUsable) return undefined;
  const base = mergedInto(last, tickets);
  return needsFreshRead(base.merged) ? undefined : base;
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
  const base = mergedInto(whole, tickets);
  if (base.merged.outcome.kind !== "unchanged") return base;
  const newer = mustReread ? undefined : newerBase(tickets, last);
  if (newer !== undefined) return newer;
  const mustWrite = isTakenBack || (mustReread && isBroken(read));
  return mustWrite && whole !== null ? { write: "whole", whole, merged: base.merged } : base;
}

/** Where the batch would change what was last seen, that decides: if it is the older of the two, the write conflicts. */
function newerBase(tickets: readonly Ticket[], last: ArmBody | null | undefined): Base | undefined {
  if (last?.etag === undefined || isChanging(last)) return undefined;
  const base = mergedInto(last, tickets);
  return base.merged.outcome.kind === "unchanged" ? undefined : base;
}

/** Into `whole`, or into the part of it that the batch is about. */
export function mergedInto(whole: ArmBody | null, tickets: readonly Ticket[]): MergedBase {
  const id = tickets[0]?.id ?? "";
  const seen = isPart(id) ? partOf(whole, id) : (whole ?? undefined);
  return { write: "outcome", whole, merged: mergeTickets(seen, tickets), isNew: seen === undefined };
}

/** The part out of the body of the whole. */
function partOf(whole: ArmBody | null, id: string): ArmBody | undefined {
  const [collection = "", name = ""] = id.slice(wholeOf(id).length + 1).split("/");
  const parts = field(field(whole, "properties"), collection);
  if (!Array.isArray(parts)) return undefined;
  return parts.find((part) => textField(part, "name")?.toLowerCase() === name.toLowerCase()) as ArmBody | undefined;
}

/** Merges into exactly what the batch's id names. */
export function mergeTickets(seen: ArmBody | undefined, tickets: readonly Ticket[]): Merged<ArmBody> {
  const [first] = tickets;
  if (first === undefined) throw new Error("a batch is never empty");
  return first.kind.merge(seen, tickets);
}

/** A refusal, a deletion or an action is only acted on after a read of Azure itself. */
export function needsFreshRead({ outcome, answers }: Merged<ArmBody>): boolean {
  return outcome.kind === "delete" || outcome.kind === "post" || answers.some(({ kind }) => kind !== "accepted");
}

/**
 * A write that Azure accepts and then, as an operation, fails leaves its content behind: the next read shows the
 * culprit's fragment as if it were in place. So what was there before is remembered and becomes the base again, unless
 * another client has changed the resource since: that change must not be lost.
 */
export interface Rollback {
  /** What was there before the write. */
  readonly before: ArmBody;
  /** The write's content as Azure had accepted it. */
  readonly accepted: unknown;
}

/** What to merge into: the earlier content under the ETag of now. `undefined` where there is nothing to take back. */
function takenBack(rollback: Rollback | undefined, now: ArmBody | null): ArmBody | undefined {
  if (rollback === undefined || now === null || contentOf(now) !== contentOf(rollback.accepted)) return undefined;
  const { etag: _, ...before } = rollback.before;
  return now.etag === undefined ? before : { ...before, etag: now.etag };
}

function contentOf(body: unknown): string {
  return JSON.stringify(body, (key, value: unknown) =>
    key === "etag" || key === "provisioningState" ? undefined : value,
  );
}
