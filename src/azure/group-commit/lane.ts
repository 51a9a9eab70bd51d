/**
 * The one writer of one Azure resource and its parts. What waits leaves together, one write at a time; what arrives
 * meanwhile leaves with the next. Drains go first: past reads (`drain-fast-path.ts`), past pauses, and past a write that has
 * not left yet, which gives way. Decides what to do when a write fails (the figures are `retry-policy.ts`'s):
 *
 *   failure                        | the batch
 *   -------------------------------|----------------------------------------------------------------------------
 *   conflict, superseded           | looks again, merges again, writes again, after a short random wait
 *   busy, transient, throttled     | the same, after growing waits
 *   notProvisioned                 | the same, once what it waits for was repaired; then as an invalid one
 *   invalid, quota, inUse,         | is taken apart until the culprit stands alone, who fails with its own error,
 *     denied for a reference       |   and all others are in
 *   anything else                  | fails as a whole
 *
 * All of it is bounded: a write that has failed too often fails for good, and whoever asked decides what then.
 */
import { unchanged } from "../../core/outcome.ts";
import type { Clock, Random } from "../../core/util/clock.ts";
import {
  commitBatch,
  FailedLater,
  GiveWayError,
  type Attempt,
  type Before,
  type CommitContext,
} from "./commit-batch.ts";
import { CommitQueue, type Batch } from "./commit-queue.ts";
import type { AttemptReport } from "./commit-types.ts";
import { ArmError, plainFailure, type ArmFailure } from "../arm/failures.ts";
import { DrainFastPath } from "./drain-fast-path.ts";
import { wholeOf } from "./resource-parts.ts";
import { isConflict, isRetryable, shouldBisect, isSpent, maybeChanged, retryWaitMs } from "./retry-policy.ts";
import { splitBatch } from "./split-batch.ts";
import { mostUrgent, type Ticket } from "./ticket.ts";
import { WriteKind } from "./write-kind.ts";

export interface LaneContext extends CommitContext {
  readonly clock: Clock;
  readonly random: Random;
  /** How long a first write waits for company. */
  readonly gatherMs: (id: string) => number;
  readonly onAttempt: (report: AttemptReport) => void;
  /** Writes something that is in the way, unchanged, if it failed to be provisioned. */
  readonly repair: (id: string) => void;
}

const UNTRIED: Before = { again: false, rollback: undefined };
/** Changes nothing: the write after a rollback takes back what the failed one left. */
const RESTORE = new WriteKind("restore", (_seen, fragments: readonly undefined[]) => unchanged(fragments));
/** So that no stream of taints keeps a drain from leaving. */
const MOST_GIVEN_WAY = 2;
/** Why what waits fails when the process stops. */
export const STOPPING = plainFailure("fenced", "this process is stopping");

export class Lane {
  /** Of the whole resource. */
  readonly #id: string;
  readonly #context: LaneContext;
  readonly #onIdle: () => void;
  readonly #queue: CommitQueue;
  readonly #overtaking: DrainFastPath;
  #running: Promise<void> | undefined;
  #before: Before = UNTRIED;
  /** Ends what a drain need not sit out: a pause, or a write that has not left. */
  #hurry: (() => void) | undefined;
  /** How often drains, one after the other, have given way to newer ones. */
  #gaveWay = 0;

  constructor(id: string, context: LaneContext, onIdle: () => void) {
    this.#id = id;
    this.#context = context;
    this.#onIdle = onIdle;
    this.#queue = new CommitQueue(context.clock);
    this.#overtaking = new DrainFastPath({
      id,
      queue: this.#queue,
      context,
      report: (batch, startMs, result) => this.#report(batch, startMs, result),
    });
  }

  /** Resolves when nothing waits any more; `undefined` when nothing does. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  submit(ticket: Ticket): void {
    this.#queue.add(ticket);
    if (ticket.priority === "drain") this.#hurry?.();
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    await this.#pauseUnlessUrgent(this.#context.gatherMs(this.#id));
    for (let batch = this.#queue.take(); batch !== undefined; batch = this.#queue.take()) {
      if (this.#context.closing.aborted) failAll(batch.tickets, STOPPING);
      else await this.#attempt(batch);
      await this.#overtaking.over();
    }
    // in the same turn as the empty take: whoever submits next finds an idle lane
    this.#running = undefined;
    this.#onIdle();
  }

  async #attempt(batch: Batch): Promise<void> {
    const { tickets } = batch;
    const startMs = this.#context.clock.monotonicMs();
    let attempt: Attempt;
    try {
      attempt = await this.#commit(batch);
    } catch (error) {
      if (error instanceof GiveWayError) return this.#stepBack(batch);
      if (!(error instanceof ArmError)) {
        for (const ticket of tickets) ticket.crash(error);
        return;
      }
      this.#remember(error, batch);
      const bisects = tickets.length > 1 && shouldBisect(error.failure, tickets);
      this.#report(batch, startMs, { outcome: error.failure.kind, failure: error.failure, bisects });
      if (bisects) this.#queue.setApart(splitBatch(tickets, error.failure));
      else if (isRetryable(error.failure)) await this.#tryAgain(batch, error.failure);
      else this.#giveUp(batch, error.failure);
      return;
    }
    this.#before = UNTRIED;
    this.#gaveWay = 0;
    this.#report(batch, startMs, { outcome: attempt.outcome });
    // hundreds may go on with their work now: a drain that waits leaves before they begin
    if (this.#queue.isUrgent) void this.#urgentHasLeft().then(() => settleAll(attempt));
    else settleAll(attempt);
  }

  /** Throws a `GiveWayError` where a drain has come before anything has left. */
  async #commit(batch: Batch): Promise<Attempt> {
    const hurry = new AbortController();
    if (this.#givesWay(batch)) this.#hurry = () => hurry.abort(new GiveWayError());
    const closing = AbortSignal.any([this.#context.closing, hurry.signal]);
    const reading: CommitContext["reading"] = (read) => this.#overtaking.reading(read);
    try {
      return await commitBatch(batch.tickets, this.#before, { ...this.#context, closing, reading });
    } finally {
      this.#hurry = undefined;
    }
  }

  /** In one turn a write is merged, in the next given to a connection, and sent before the third. */
  async #urgentHasLeft(): Promise<void> {
    await this.#context.clock.nextTurn();
    await this.#context.clock.nextTurn();
  }

  #remember(error: ArmError, { id }: Batch): void {
    if (maybeChanged(error.failure)) {
      this.#context.onSeen(wholeOf(id), undefined);
      this.#before = { ...this.#before, again: true };
    }
    // where nobody is at fault the content is as it should be: writing it once more makes it good
    if (error instanceof FailedLater && !isRetryable(error.failure))
      this.#before = { again: true, rollback: error.rollback };
  }

  #givesWay(batch: Batch): boolean {
    const isDrain = mostUrgent(batch.tickets) === "drain";
    return isDrain ? this.#gaveWay < MOST_GIVEN_WAY : !this.#queue.isFirst(batch);
  }

  /** A drain goes first; drains that give way to each other go together. */
  #stepBack({ tickets, isApart }: Batch): void {
    if (mostUrgent(tickets) === "drain") this.#gaveWay += 1;
    this.#putBack(tickets, isApart);
  }

  #putBack(tickets: readonly Ticket[], isApart: boolean): void {
    if (isApart) this.#queue.setApart([tickets]);
    else this.#queue.putBack(tickets);
  }

  async #tryAgain({ tickets, isApart }: Batch, failure: ArmFailure): Promise<void> {
    for (const ticket of tickets) {
      if (isConflict(failure)) ticket.conflicts += 1;
      else ticket.failures += 1;
    }
    failAll(tickets.filter(isSpent), failure);
    const rest = tickets.filter((ticket) => !isSpent(ticket));
    if (rest.length === 0) return;
    this.#putBack(rest, isApart);
    if (failure.kind === "notProvisioned" && failure.referencedId) this.#context.repair(failure.referencedId);
    const waitMs = retryWaitMs(failure, rest, this.#context.random);
    // a drain waits for its own failures, but not for those of others
    if (mostUrgent(rest) === "drain") await this.#pause(waitMs);
    else await this.#pauseUnlessUrgent(waitMs);
  }

  /** Cut short when the process stops. */
  async #pause(ms: number, until = this.#context.closing): Promise<void> {
    await this.#context.clock.sleep(ms, until).catch(() => {});
  }

  async #pauseUnlessUrgent(ms: number): Promise<void> {
    if (this.#queue.isUrgent) return;
    const hurry = new AbortController();
    this.#hurry = () => hurry.abort();
    await this.#pause(ms, AbortSignal.any([this.#context.closing, hurry.signal]));
    this.#hurry = undefined;
  }

  /** What a refused write has left behind must go, even if nobody else writes. */
  #giveUp({ id, tickets }: Batch, failure: ArmFailure): void {
    failAll(tickets, failure);
    if (this.#before.rollback === undefined || tickets[0]?.kind === RESTORE) return;
    const write = { id: wholeOf(id), kind: RESTORE, fragment: undefined, priority: "create" } as const;
    const [ticket] = RESTORE.open(write, this.#context.clock.monotonicMs());
    this.#queue.add(ticket);
  }

  #report(
    { id, tickets }: Batch,
    startMs: number,
    result: Pick<AttemptReport, "outcome" | "failure"> & { readonly bisects?: boolean },
  ): void {
    const oldestMs = Math.min(...tickets.map(({ sinceMs }) => sinceMs));
    const timing = { waitedMs: startMs - oldestMs, durationMs: this.#context.clock.monotonicMs() - startMs };
    const kind = tickets[0]?.kind.name ?? "";
    this.#context.onAttempt({ id, kind, size: tickets.length, bisects: false, ...result, ...timing });
  }
}

function settleAll({ settled }: Attempt): void {
  for (const [ticket, outcome] of settled) ticket.settle(outcome);
}

function failAll(tickets: readonly Ticket[], failure: ArmFailure): void {
  for (const ticket of tickets) ticket.settle({ kind: "failed", failure });
}
