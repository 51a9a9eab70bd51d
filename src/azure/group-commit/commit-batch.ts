/**
 * One attempt to bring a batch of fragments into a resource: look, merge, write under the ETag of what was seen.
 * Answers what came of each write, or throws the `ArmError` that stopped all of them; trying again, waiting and
 * bisecting are the lane's business.
 *
 * The look is free where the last sighting is known: a conflict tells when that is outdated. Bad news, though (a
 * refusal, a deletion), is only ever acted on after a look at Azure itself; and "nothing to do" only where the last
 * sighting agrees, or is proven outdated.
 */
import type { Answer, Merged } from "../../core/outcome.ts";
import type { ArmClient, PutOptions, WriteOptions } from "../arm/arm-client.ts";
import type { Priority } from "../budget/budget.ts";
import type { ArmBody, Committed } from "./commit-types.ts";
import { ArmError, plainFailure } from "../arm/failures.ts";
import { isBroken, isChanging, isPart, partOf, wholeOf } from "./resource-parts.ts";
import { assertResourceShape } from "../arm/resource-shape.ts";
import { takenBack, type Rollback } from "./rollback.ts";
import { mostUrgent, type Ticket } from "./ticket.ts";

export interface CommitContext {
  readonly client: ArmClient;
  /** What was last seen of a whole resource: `null` when it wasn't there, `undefined` when nobody looked. */
  readonly lastSeen: (id: string) => ArmBody | null | undefined;
  /** `undefined`: what was last seen holds no more, and nobody has looked since. */
  readonly onSeen: (id: string, body: ArmBody | null | undefined) => void;
  /** Aborted when no further write may begin: with a fenced `ArmError`, or a `GiveWayError`. */
  readonly closing: AbortSignal;
  /** May this process still write? Asked right before each write leaves. */
  readonly mayWrite: (priority: Priority) => boolean | Promise<boolean>;
  /** Lets in what has come while a write was composed; it may end in `closing`. */
  readonly nextTurn: () => Promise<void>;
  /** Reads what came of a write: drains go past (`drain-fast-path.ts`). */
  readonly reading?: NonNullable<PutOptions["reading"]>;
}

/** A write that has not left steps back: one that is more urgent has come. It failed nowhere, and is tried again. */
export class GiveWayError extends Error {}

/** The write was accepted and failed as an operation. */
export class FailedLater extends ArmError {
  readonly rollback: Rollback;

  constructor(error: ArmError, rollback: Rollback) {
    super(error.failure, "writing", { cause: error });
    this.rollback = rollback;
  }
}

export interface Attempt {
  readonly outcome: "written" | "unchanged" | "deleted" | "refused";
  readonly settled: ReadonlyMap<Ticket, Committed<ArmBody>>;
}

/** What earlier attempts left to this one. */
export interface Before {
  /** Nothing that was seen before counts any more. */
  readonly again: boolean;
  readonly rollback: Rollback | undefined;
}

export async function commitBatch(batch: readonly Ticket[], before: Before, context: CommitContext): Promise<Attempt> {
  const afresh = before.again || batch.some((ticket) => ticket.afresh);
  const last = before.again ? undefined : context.lastSeen(wholeOf(idOf(batch)));
  const known = afresh ? undefined : last;
  if (known !== undefined && !isChanging(known)) {
    const merged = mergeInto(known, batch);
    if (!needsFreshRead(merged)) return carryOut(known, merged, batch, context);
  }
  const now = await look(batch, context);
  const base = takenBack(before.rollback, now);
  const whole = base ?? now;
  // Azure takes no part of what failed: the whole must be made good first
  if (isPart(idOf(batch)) && whole !== null && (base !== undefined || isBroken(now))) {
    await put(wholeOf(idOf(batch)), whole, whole, mostUrgent(batch), context);
    return commitBatch(batch, { again: false, rollback: undefined }, context);
  }
  const merged = mergeInto(whole, batch);
  // a look may show what was there before our last write: where the two differ, the ETag tells which is newer
  const isDoubtful = merged.outcome.kind === "unchanged" && last?.etag !== undefined && !isChanging(last);
  const disputed = isDoubtful ? mergeInto(last, batch) : merged;
  if (disputed !== merged && disputed.outcome.kind !== "unchanged")
    return carryOut(last ?? null, disputed, batch, context);
  // what a failed write left behind is only made good by writing once more, although it looks right
  const mustWrite = base !== undefined || (before.again && isBroken(now));
  if (!mustWrite || whole === null || merged.outcome.kind !== "unchanged")
    return carryOut(whole, merged, batch, context);
  const body = await put(wholeOf(idOf(batch)), whole, whole, mostUrgent(batch), context);
  return { outcome: "written", settled: settledAs({ kind: "written", body }, merged, batch) };
}

function idOf(batch: readonly Ticket[]): string {
  return batch[0]?.id ?? "";
}

async function look(batch: readonly Ticket[], { client, onSeen, closing }: CommitContext): Promise<ArmBody | null> {
  const id = wholeOf(idOf(batch));
  const priority = mostUrgent(batch);
  const found = await client.find<ArmBody>(id, { priority, signal: closing });
  const whole = found && assertResourceShape(found, `looking at ${id}`);
  onSeen(id, whole);
  // a write into a running operation would cancel it, and fail whoever started it: those in no hurry wait
  if (isChanging(whole) && priority !== "drain")
    throw new ArmError(plainFailure("busy", `${id} is being changed`), "waiting");
  return whole;
}

function mergeInto(whole: ArmBody | null, batch: readonly Ticket[]): Merged<ArmBody> {
  const id = idOf(batch);
  return mergeFragments(isPart(id) ? partOf(whole, id) : (whole ?? undefined), batch);
}

export function mergeFragments(seen: ArmBody | undefined, batch: readonly Ticket[]): Merged<ArmBody> {
  const [first] = batch;
  if (first === undefined) throw new Error("a batch is never empty");
  return first.kind.merge(seen, batch);
}

export function needsFreshRead({ outcome, answers }: Merged<ArmBody>): boolean {
  return outcome.kind === "delete" || answers.some(({ kind }) => kind !== "accepted");
}

async function carryOut(
  whole: ArmBody | null,
  merged: Merged<ArmBody>,
  batch: readonly Ticket[],
  context: CommitContext,
): Promise<Attempt> {
  const id = idOf(batch);
  switch (merged.outcome.kind) {
    case "unchanged": {
      const settled = settledAs({ kind: "unchanged", body: whole }, merged, batch);
      const isRefused = [...settled.values()].every(({ kind }) => kind === "refused" || kind === "stale");
      return { outcome: isRefused ? "refused" : "unchanged", settled };
    }
    case "put": {
      const body = await put(id, merged.outcome.body, whole, mostUrgent(batch), context);
      return { outcome: "written", settled: settledAs({ kind: "written", body }, merged, batch) };
    }
    case "delete": {
      const priority = mostUrgent(batch);
      await context.client.delete(id, { ...guarded(context, priority), ifMatch: whole?.etag });
      context.onSeen(wholeOf(id), isPart(id) ? await context.client.find(wholeOf(id), { priority }) : null);
      return { outcome: "deleted", settled: settledAs({ kind: "deleted" }, merged, batch) };
    }
  }
}

async function put(
  id: string,
  body: ArmBody,
  whole: ArmBody | null,
  priority: Priority,
  context: CommitContext,
): Promise<ArmBody> {
  const isNew = isPart(id) ? partOf(whole, id) === undefined : whole === null;
  const reading = {
    ...(context.reading && { reading: context.reading }),
    ...(isPart(id) ? { thenRead: wholeOf(id) } : {}),
  };
  const options = { ...guarded(context, priority), ifMatch: isNew ? "absent" : whole?.etag, ...reading };
  try {
    return noted(await context.client.put<ArmBody>(id, body, options), id, whole?.etag, context);
  } catch (error) {
    const wasAccepted = error instanceof ArmError && error.accepted !== undefined && !isPart(id);
    throw wasAccepted && whole !== null ? new FailedLater(error, { before: whole, accepted: error.accepted }) : error;
  }
}

/** What was read after a write of `id`, which had found the whole under `etag`. */
export function noted(read: ArmBody, id: string, etag: string | undefined, { onSeen }: CommitContext): ArmBody {
  const whole = assertResourceShape(read, `writing ${id}`);
  // what Azure shows right after a write may be from before it, which the ETag tells
  const isOutdated = whole.etag !== undefined && whole.etag === etag;
  onSeen(wholeOf(id), isOutdated ? undefined : whole);
  return whole;
}

export function guarded(
  { mayWrite, closing, nextTurn }: CommitContext,
  priority: Priority,
): Pick<WriteOptions, "guard" | "queueSignal" | "priority"> {
  return {
    priority,
    queueSignal: closing,
    guard: async () => {
      await nextTurn();
      closing.throwIfAborted();
      if (await mayWrite(priority)) return;
      throw new ArmError(plainFailure("fenced", "this process may not write (any more)"), "writing");
    },
  };
}

type Common = { kind: "written"; body: ArmBody } | { kind: "unchanged"; body: ArmBody | null } | { kind: "deleted" };

/** Each ticket gets the answer to its own fragment: the two lists have one order. */
export function settledAs(
  common: Common,
  { answers }: Merged<ArmBody>,
  batch: readonly Ticket[],
): ReadonlyMap<Ticket, Committed<ArmBody>> {
  const outcomeOf = (answer: Answer | undefined): Committed<ArmBody> =>
    answer?.kind === "refused" || answer?.kind === "stale" ? answer : { ...common, warnings: answer?.warnings ?? [] };
  return new Map(batch.map((ticket, at) => [ticket, outcomeOf(answers[at])]));
}
