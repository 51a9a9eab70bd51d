/**
 * One attempt to commit a batch: choose a base (`choose-base.ts`), read where that needs it, and send what it asks for under
 * the base's ETag when its turn has come. What was seen is noted on the way. How it ended is data; trying again, waiting and
 * taking apart are the lane's.
 */
import { isPart, wholeOf } from "../../core/model/ids.ts";
import type { Action, Answer, Merged } from "../../core/outcome.ts";
import type { Clock } from "../../core/util/clock.ts";
import type { Span } from "../../core/util/tracer.ts";
import { errorText } from "../../core/util/text.ts";
import { type ArmClient, assertResourceShape, type PutOptions, type WriteOptions } from "../arm/arm-client.ts";
import { ArmError, type ArmFailure, plainFailure, transient } from "../arm/failures.ts";
import { isChanging } from "../arm/response-body.ts";
import type { Priority } from "../budget/limits.ts";
import {
  type Base,
  baseFromLastSeen,
  baseFromRead,
  mergedInto,
  type MergedBase,
  NO_PRIOR_ATTEMPT,
  type PriorAttempt,
  type Rollback,
} from "./choose-base.ts";
import type { ArmBody, Committed } from "./commit-types.ts";
import type { Ticket } from "./write-kind.ts";

/** What a lane needs to call Azure, and to know and to tell what was seen of it. */
export interface LaneIo {
  readonly client: ArmClient;
  /** What was last seen of a whole resource: `null` when it wasn't there, `undefined` when that is unknown. */
  readonly lastSeen: (id: string) => ArmBody | null | undefined;
  /** Was it there when it was last seen, whatever has changed in it since? */
  readonly wasThere: (id: string) => boolean;
  /** Was it written so recently that a read may still be without it? */
  readonly isJustWritten: (id: string) => boolean;
  /** `undefined`: what was last seen holds no more, and nothing newer is known. */
  readonly onSeen: (id: string, body: ArmBody | null | undefined) => void;
  /** May this process still write? Asked right before each write leaves. Where that fails, the write is retried. */
  readonly mayWrite: (priority: Priority) => boolean | Promise<boolean>;
  readonly clock: Clock;
}

/** The wait of one write for its turn. */
export interface Turn {
  readonly priority: Priority;
  /** That all writes of the batch are of, where there is one. */
  readonly namespace?: string | undefined;
  /** How many writes the batch has, for reports. */
  readonly batchSize: number;
  /** Of those that wait for it. */
  readonly spans: readonly Span[];
  /** Aborted when the write must not leave any more. */
  readonly signal: AbortSignal;
  /** The last word before it leaves; may abort `signal`. */
  readonly beforeLeaving?: () => void;
  /** Azure has told to wait. */
  readonly onHeld?: (waitMs: number) => void;
  /** From here on the write cannot be held back. */
  readonly onLeft: () => void;
}

export type AttemptResult =
  | {
      readonly kind: "settled";
      readonly outcome: "written" | "unchanged" | "deleted" | "refused";
      readonly settled: readonly Settlement[];
    }
  /** `rollback`: Azure had accepted the write before it failed as an operation. */
  | { readonly kind: "failed"; readonly failure: ArmFailure; readonly rollback: Rollback | undefined }
  /** A bug: a merge that throws. */
  | { readonly kind: "crashed"; readonly reason: unknown };

export interface AttemptOptions {
  readonly io: LaneIo;
  readonly turn: Turn;
  /** Reads what came of a write: drains go past (`drain-fast-path.ts`). */
  readonly reading: NonNullable<PutOptions["reading"]>;
  readonly on: (event: "baseChosen" | "wholeRepaired") => void;
}

export async function attempt(
  tickets: readonly Ticket[],
  prior: PriorAttempt,
  options: AttemptOptions,
): Promise<AttemptResult> {
  try {
    const base = await chooseBase(tickets, prior, options);
    if (base.write === "outcome") return await carryOut(base, tickets, options);
    options.on("baseChosen");
    const id = wholeOf(idOf(tickets));
    const result = await put(id, base.whole, base, options);
    if (result.kind === "failed") return result;
    if (base.write === "whole") return written(result.body, base.merged, tickets);
    options.on("wholeRepaired");
    return await attempt(tickets, NO_PRIOR_ATTEMPT, options);
  } catch (error) {
    if (error instanceof ArmError) return { kind: "failed", failure: error.failure, rollback: undefined };
    return { kind: "crashed", reason: error };
  }
}

async function chooseBase(
  tickets: readonly Ticket[],
  prior: PriorAttempt,
  { io, turn }: AttemptOptions,
): Promise<Base> {
  const id = wholeOf(idOf(tickets));
  const last = io.lastSeen(id);
  const known = baseFromLastSeen(tickets, last, prior);
  return known ?? baseFromRead(tickets, await readWhole(id, turn, io), last, prior);
}

/**
 * A resource that was there a while ago and is not there now is asked for twice: one stale answer of Azure must not pass
 * for a deletion. One that was written a moment ago is there, whatever a read that lags behind shows. Throws a busy `ArmError`
 * then, and where an operation runs, unless for a drain: a write into it would cancel it.
 */
async function readWhole(
  id: string,
  { priority, namespace, signal, onHeld, spans }: Turn,
  { client, onSeen, wasThere, isJustWritten }: LaneIo,
): Promise<ArmBody | null> {
  const options = { priority, namespace, signal, onHeld, spans };
  const find = (): Promise<ArmBody | null> => client.find<ArmBody>(id, options);
  const found = (await find()) ?? (wasThere(id) ? await find() : null);
  if (found === null && isJustWritten(id))
    throw new ArmError(plainFailure("busy", `${id} was written a moment ago and is not shown yet`), "waiting");
  const whole = found && assertResourceShape(found, `looking at ${id}`);
  onSeen(id, whole);
  if (isChanging(whole) && priority !== "drain")
    throw new ArmError(plainFailure("busy", `${id} is being changed`), "waiting");
  return whole;
}

async function carryOut(base: MergedBase, tickets: readonly Ticket[], options: AttemptOptions): Promise<AttemptResult> {
  const { whole, merged } = base;
  const id = idOf(tickets);
  if (merged.outcome.kind === "unchanged") {
    // what is being changed shows what it is to be: that is not in effect, and may fail
    if (isChanging(whole)) throw new ArmError(plainFailure("busy", `${id} is being changed`), "waiting");
    const settled = settlements({ kind: "unchanged", body: whole }, merged, tickets);
    const isRefused = merged.answers.every(({ kind }) => kind !== "accepted");
    return { kind: "settled", outcome: isRefused ? "refused" : "unchanged", settled };
  }
  options.on("baseChosen");
  if (merged.outcome.kind === "delete") {
    await remove(id, whole, options);
    return { kind: "settled", outcome: "deleted", settled: settlements({ kind: "deleted" }, merged, tickets) };
  }
  if (merged.outcome.kind === "post") return await post(merged.outcome.action, merged, tickets, options);
  const result = await put(id, merged.outcome.body, base, options);
  return result.kind === "failed" ? result : written(result.body, merged, tickets);
}

/**
 * An action may be answered before its effect can be read. Until then it is busy, and is asked for again: the actions that
 * merges ask for are idempotent.
 */
async function post(
  { name, request }: Action,
  merged: Merged<ArmBody>,
  tickets: readonly Ticket[],
  options: AttemptOptions,
): Promise<AttemptResult> {
  const { io, turn } = options;
  const id = wholeOf(idOf(tickets));
  await io.client.post(`${id}/${name}`, request, writeOptions(turn, io));
  const { priority, namespace } = turn;
  const whole = await io.client.get<ArmBody>(id, { priority, namespace });
  io.onSeen(id, assertResourceShape(whole, `looking at ${id}`));
  const again = mergedInto(whole, tickets).merged.outcome.kind === "post";
  if (again) throw new ArmError(plainFailure("busy", `${name} of ${id} is not over`), "waiting");
  return written(whole, merged, tickets);
}

type PutResult = { readonly kind: "written"; readonly body: ArmBody } | Extract<AttemptResult, { kind: "failed" }>;

/** Writes a whole or a part under the ETag of the base; what is read then is the whole. */
async function put(
  id: string,
  body: ArmBody,
  { whole, isNew = false }: { readonly whole: ArmBody | null; readonly isNew?: boolean },
  { turn, io, reading }: AttemptOptions,
): Promise<PutResult> {
  const options = { ...writeOptions(turn, io), ifMatch: isNew ? "absent" : whole?.etag, reading };
  try {
    const read = await io.client.put<ArmBody>(id, body, { ...options, ...(isPart(id) && { thenRead: wholeOf(id) }) });
    return { kind: "written", body: noteRead(read, id, whole?.etag, io) };
  } catch (error) {
    if (!(error instanceof ArmError)) throw error;
    const { failure, accepted } = error;
    const wasAccepted = accepted !== undefined && !isPart(id) && whole !== null;
    return { kind: "failed", failure, rollback: wasAccepted ? { before: whole, accepted } : undefined };
  }
}

async function remove(id: string, whole: ArmBody | null, { turn, io }: AttemptOptions): Promise<void> {
  const { priority, namespace } = turn;
  await io.client.delete(id, { ...writeOptions(turn, io), ifMatch: whole?.etag });
  io.onSeen(wholeOf(id), isPart(id) ? await io.client.find(wholeOf(id), { priority, namespace }) : null);
}

function written(body: ArmBody, merged: Merged<ArmBody>, tickets: readonly Ticket[]): AttemptResult {
  return { kind: "settled", outcome: "written", settled: settlements({ kind: "written", body }, merged, tickets) };
}

function idOf(tickets: readonly Ticket[]): string {
  return tickets[0]?.id ?? "";
}

/** Notes what was read after a write of `id`, which had found the whole under `etag`. */
export function noteRead(read: ArmBody, id: string, etag: string | undefined, { onSeen }: LaneIo): ArmBody {
  const whole = assertResourceShape(read, `writing ${id}`);
  // what Azure shows right after a write may be from before it, which the ETag tells
  const isOutdated = whole.etag !== undefined && whole.etag === etag;
  onSeen(wholeOf(id), isOutdated ? undefined : whole);
  return whole;
}

export function writeOptions(
  { priority, namespace, batchSize, spans, signal, beforeLeaving, onHeld, onLeft }: Turn,
  { mayWrite, clock }: LaneIo,
): Pick<WriteOptions, "guard" | "queueSignal" | "priority" | "namespace" | "batchSize" | "spans" | "onHeld"> {
  return {
    priority,
    namespace,
    batchSize,
    spans,
    queueSignal: signal,
    onHeld,
    guard: async () => {
      await clock.nextTurn(); // lets in what has come while the write was composed: it may abort the turn
      signal.throwIfAborted();
      const isAllowed = await Promise.resolve(mayWrite(priority)).catch((error: unknown) => {
        signal.throwIfAborted();
        throw new ArmError(transient(errorText(error), false), "writing", { cause: error }); // passes, and nothing was sent
      });
      if (!isAllowed) throw new ArmError(plainFailure("fenced", "this process may not write (any more)"), "writing");
      signal.throwIfAborted();
      if (beforeLeaving !== undefined) {
        beforeLeaving();
        signal.throwIfAborted();
      }
      onLeft();
      for (const span of spans) span.event("written");
    },
  };
}

/** What became of the resource, for all writes whose fragments were accepted. */
type Result =
  | { readonly kind: "written"; readonly body: ArmBody }
  | { readonly kind: "unchanged"; readonly body: ArmBody | null }
  | { readonly kind: "deleted" };

export interface Settlement {
  readonly ticket: Ticket;
  readonly outcome: Committed<ArmBody>;
}

/** Each ticket gets the answer to its own fragment: the two lists have one order. */
export function settlements(result: Result, { answers }: Merged<ArmBody>, tickets: readonly Ticket[]): Settlement[] {
  const outcomeOf = (answer: Answer | undefined): Committed<ArmBody> =>
    answer?.kind === "refused" || answer?.kind === "stale" ? answer : { ...result, warnings: answer?.warnings ?? [] };
  return tickets.map((ticket, at) => ({ ticket, outcome: outcomeOf(answers[at]) }));
}
