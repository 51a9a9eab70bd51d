/**
 * The one writer of one Azure resource and its parts. What waits leaves together, one write at a time; what arrives
 * meanwhile leaves with the next, drains first (`overtaking.ts`). Decides what to do when a write fails (the figures are
 * `retry-policy.ts`'s):
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
import type { Clock, Random } from "../core/clock.ts";
import { commitBatch, FailedLater, type Attempt, type Before, type CommitContext } from "./commit-batch.ts";
import { CommitQueue, type Batch } from "./commit-queue.ts";
import { UNCHANGED, type AttemptReport } from "./commit-types.ts";
import { ArmError, plainFailure, type ArmFailure } from "./failures.ts";
import { overtake, type Overtaken } from "./overtaking.ts";
import { wholeOf } from "./resource-parts.ts";
import { isConflict, isRetryable, isSomebodysFault, isSpent, maybeChanged, retryWaitMs } from "./retry-policy.ts";
import { splitBatch } from "./split-batch.ts";
import { mostUrgent, Ticket } from "./ticket.ts";

export interface LaneContext extends CommitContext {
  readonly clock: Clock;
  readonly random: Random;
  /** How long a first write waits for company. */
  readonly gatherMs: (id: string) => number;
  readonly onAttempt: (report: AttemptReport) => void;
  /** Writes something that is in the way, unchanged, if it failed to be provisioned. */
  readonly repair: (id: string) => void;
}

/** Drains that were written while others' write had not been read. */
interface Passed {
  readonly tickets: readonly Ticket[];
  readonly outcomes: Overtaken;
}

const UNTRIED: Before = { again: false, rollback: undefined };
const RESTORE = "restore";
/** Why what waits fails when the process stops. */
export const STOPPING = plainFailure("fenced", "this process is stopping");

export class Lane {
  /** Of the whole resource. */
  readonly #id: string;
  readonly #context: LaneContext;
  readonly #onIdle: () => void;
  readonly #queue = new CommitQueue();
  #running: Promise<void> | undefined;
  #before: Before = UNTRIED;
  /** Ends the present wait, where that is one that a drain need not sit out. */
  #hurry: (() => void) | undefined;

  constructor(id: string, context: LaneContext, onIdle: () => void) {
    this.#id = id;
    this.#context = context;
    this.#onIdle = onIdle;
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
      attempt = await this.#commit(tickets);
    } catch (error) {
      if (!(error instanceof ArmError)) {
        for (const ticket of tickets) ticket.crash(error);
        return;
      }
      this.#remember(error, batch);
      const bisects = tickets.length > 1 && isSomebodysFault(error.failure, tickets);
      this.#report(batch, startMs, { outcome: error.failure.kind, failure: error.failure, bisects });
      if (bisects) this.#queue.setApart(splitBatch(tickets, error.failure));
      else if (isRetryable(error.failure)) await this.#tryAgain(batch, error.failure);
      else this.#giveUp(batch, error.failure);
      return;
    }
    this.#before = UNTRIED;
    this.#report(batch, startMs, { outcome: attempt.outcome, bisects: false });
    // hundreds may go on with their work now: a drain that waits leaves before they begin
    if (this.#queue.isUrgent) void this.#urgentHasLeft().then(() => settleAll(attempt));
    else settleAll(attempt);
  }

  /** Drains that overtake the batch before what came of it is read are over with it. */
  async #commit(tickets: readonly Ticket[]): Promise<Attempt> {
    let passed: Passed | undefined;
    const beforeRead = async (): Promise<void> => {
      passed ??= await this.#letDrainPass();
    };
    try {
      const attempt = await commitBatch(tickets, this.#before, { ...this.#context, beforeRead });
      if (passed !== undefined) this.#end(passed);
      return attempt;
    } catch (error) {
      if (passed !== undefined) this.#queue.putBack(passed.tickets);
      throw error;
    }
  }

  async #letDrainPass(): Promise<Passed | undefined> {
    const batch = this.#queue.takeDrainOfPart();
    if (batch === undefined) return undefined;
    const { tickets } = batch;
    const startMs = this.#context.clock.monotonicMs();
    try {
      const outcomes = await overtake(tickets, this.#context);
      if (outcomes !== undefined) {
        this.#report(batch, startMs, { outcome: "written", bisects: false });
        return { tickets, outcomes };
      }
    } catch (error) {
      if (!(error instanceof ArmError)) {
        for (const ticket of tickets) ticket.crash(error);
        return undefined;
      }
      this.#report(batch, startMs, { outcome: error.failure.kind, failure: error.failure, bisects: false });
    }
    this.#queue.putBack(tickets);
    return undefined;
  }

  #end({ tickets, outcomes }: Passed): void {
    const whole = this.#context.lastSeen(this.#id);
    if (!whole) this.#queue.putBack(tickets);
    else for (const [ticket, outcome] of outcomes(whole)) ticket.settle(outcome);
  }

  /** In one turn a write is merged and given to a connection, in the next the connection sends it. */
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

  async #tryAgain({ tickets, isApart }: Batch, failure: ArmFailure): Promise<void> {
    for (const ticket of tickets) {
      if (isConflict(failure)) ticket.conflicts += 1;
      else ticket.failures += 1;
    }
    failAll(tickets.filter(isSpent), failure);
    const rest = tickets.filter((ticket) => !isSpent(ticket));
    if (rest.length === 0) return;
    if (isApart) this.#queue.setApart([rest]);
    else this.#queue.putBack(rest);
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
    if (this.#before.rollback === undefined || tickets[0]?.write.kind === RESTORE) return;
    const wish = {
      kind: RESTORE,
      owner: RESTORE,
      fragment: undefined,
      merge: () => UNCHANGED,
      priority: "create",
    } as const;
    this.#queue.add(new Ticket({ id: wholeOf(id), ...wish }, this.#context.clock.monotonicMs()));
  }

  #report(
    { id, tickets }: Batch,
    startMs: number,
    result: Pick<AttemptReport, "outcome" | "failure" | "bisects">,
  ): void {
    const oldestMs = Math.min(...tickets.map(({ sinceMs }) => sinceMs));
    const timing = { waitedMs: startMs - oldestMs, durationMs: this.#context.clock.monotonicMs() - startMs };
    const kind = tickets[0]?.write.kind ?? "";
    this.#context.onAttempt({ id, kind, size: tickets.length, ...result, ...timing });
  }
}

function settleAll({ settled }: Attempt): void {
  for (const [ticket, outcome] of settled) ticket.settle(outcome);
}

function failAll(tickets: readonly Ticket[], failure: ArmFailure): void {
  for (const ticket of tickets) ticket.settle({ kind: "failed", failure });
}
