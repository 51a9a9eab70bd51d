/**
 * One attempt to commit a batch: choose a base (`choose-base.ts`), read where that needs it, and carry out what it asks
 * for under the base's ETag. How it ended is data; trying again, waiting and taking apart are the lane's.
 */
import type { Merged } from "../../core/outcome.ts";
import type { PutOptions } from "../arm/arm-client.ts";
import { ArmError, type ArmFailure } from "../arm/failures.ts";
import { type Base, baseFromLastSeen, baseFromRead, NO_PRIOR_ATTEMPT, type PriorAttempt } from "./choose-base.ts";
import type { ArmBody } from "./commit-types.ts";
import { put, readWhole, remove, type LaneIo, type Turn } from "./lane-io.ts";
import { type Settlement, settlements } from "./merge-batch.ts";
import { isPart, wholeOf } from "./resource-parts.ts";
import type { Rollback } from "./rollback.ts";
import type { Ticket } from "./ticket.ts";

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
    const result = await putOrFail(id, base.whole, base.whole, options);
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

async function carryOut(
  { whole, merged }: Extract<Base, { write: "outcome" }>,
  tickets: readonly Ticket[],
  options: AttemptOptions,
): Promise<AttemptResult> {
  const id = idOf(tickets);
  if (merged.outcome.kind === "unchanged") {
    const settled = settlements({ kind: "unchanged", body: whole }, merged, tickets);
    const isRefused = merged.answers.every(({ kind }) => kind !== "accepted");
    return { kind: "settled", outcome: isRefused ? "refused" : "unchanged", settled };
  }
  options.on("baseChosen");
  if (merged.outcome.kind === "delete") {
    await remove(id, whole, options.turn, options.io);
    return { kind: "settled", outcome: "deleted", settled: settlements({ kind: "deleted" }, merged, tickets) };
  }
  const result = await putOrFail(id, merged.outcome.body, whole, options);
  return result.kind === "failed" ? result : written(result.body, merged, tickets);
}

type PutResult = { readonly kind: "written"; readonly body: ArmBody } | Extract<AttemptResult, { kind: "failed" }>;

async function putOrFail(
  id: string,
  body: ArmBody,
  whole: ArmBody | null,
  { turn, io, reading }: AttemptOptions,
): Promise<PutResult> {
  try {
    return { kind: "written", body: await put(id, body, whole, turn, io, reading) };
  } catch (error) {
    if (!(error instanceof ArmError)) throw error;
    const { failure, accepted } = error;
    const wasAccepted = accepted !== undefined && !isPart(id) && whole !== null;
    return { kind: "failed", failure, rollback: wasAccepted ? { before: whole, accepted } : undefined };
  }
}

function written(body: ArmBody, merged: Merged<ArmBody>, tickets: readonly Ticket[]): AttemptResult {
  return { kind: "settled", outcome: "written", settled: settlements({ kind: "written", body }, merged, tickets) };
}

function idOf(tickets: readonly Ticket[]): string {
  return tickets[0]?.id ?? "";
}
