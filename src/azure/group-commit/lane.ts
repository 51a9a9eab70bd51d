/**
 * The one writer of one Azure resource and its parts: a state machine (`lane-states.ts`) around a queue. Batches leave one
 * at a time; what arrives meanwhile leaves with the next. A drain ends every wait that precedes a write: the gathering of
 * others, a pause, and the turn of a batch that has not left, which steps back. While a write is in flight, drains take the
 * fast path (`drain-fast-path.ts`). Decides what a failure means for the batch (by the table of `core/retry.ts`):
 *
 *   failure                        | the batch
 *   -------------------------------|----------------------------------------------------------------------------
 *   conflict, superseded           | reads again, merges again, writes again, after a short random wait
 *   busy, transient, throttled     | the same, after growing waits
 *   notProvisioned                 | the same, once what it waits for was repaired; then as an invalid one
 *   invalid, quota, inUse,         | is taken apart until the culprit is alone, which fails with its own error,
 *     denied for a reference       |   and all others are in
 *   anything else                  | fails as a whole
 *
 * All of it is bounded: a write that has failed too often fails for good, and the caller decides what then.
 */
import { unchanged } from "../../core/outcome.ts";
import type { Random } from "../../core/util/clock.ts";
import { plainFailure, throttledFor, type ArmFailure } from "../arm/failures.ts";
import { field, textField } from "../arm/response-body.ts";
import { attempt, type AttemptResult, type LaneIo } from "./attempt.ts";
import { NO_PRIOR_ATTEMPT, type PriorAttempt } from "./choose-base.ts";
import { CommitQueue, mostUrgent, type Batch } from "./commit-queue.ts";
import type { AttemptReport } from "./commit-types.ts";
import { DrainFastPath } from "./drain-fast-path.ts";
import { StateMachine } from "../../core/util/state-machine.ts";
import { LANE, type LaneEvent, type LaneState } from "./lane-states.ts";
import { wholeOf } from "../../core/model/ids.ts";
import { isConflict, isRetryable, isSpent, maybeChanged, retryWaitMs, shouldBisect } from "./retry-policy.ts";
import { splitBatch } from "./split-batch.ts";
import { type Ticket, WriteKind } from "./write-kind.ts";

export interface LaneContext extends LaneIo {
  readonly random: Random;
  /** Aborted, with a fenced `ArmError`, when no further write may begin. */
  readonly closing: AbortSignal;
  /** How long a first write waits for company. */
  readonly gatherMs: (id: string) => number;
  /** How long what waits may be held back for more that is known to come. */
  readonly holdMs: (id: string) => number;
  /** How many writes are known to come. */
  readonly expected: (id: string) => number;
  readonly onAttempt: (report: AttemptReport) => void;
  /** Writes something that is in the way, unchanged, if it failed to be provisioned. */
  readonly repair: (id: string) => void;
}

/** Changes nothing: its write takes back what a refused one has left behind. */
const RESTORE = new WriteKind("restore", (_seen, fragments: readonly undefined[]) => unchanged(fragments));
/** Why what waits fails when the process stops. */
export const STOPPING = plainFailure("fenced", "this process is stopping");

export class Lane {
  /** Of the whole resource. */
  readonly #id: string;
  readonly #context: LaneContext;
  readonly #onIdle: () => void;
  readonly #queue: CommitQueue;
  readonly #drains: DrainFastPath;
  readonly #machine = new StateMachine<LaneState, LaneEvent>(LANE, "idle");
  #running: Promise<void> | undefined;
  /** Taken from the queue, and not settled yet. */
  #taken: readonly Ticket[] = [];
  #prior: PriorAttempt = NO_PRIOR_ATTEMPT;
  /** Ends the wait for writes that are known to come. */
  #holding: AbortController | undefined;

  constructor(id: string, context: LaneContext, onIdle: () => void) {
    this.#id = id;
    this.#context = context;
    this.#onIdle = onIdle;
    this.#queue = new CommitQueue(context.clock);
    this.#drains = new DrainFastPath({
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
    if (ticket.priority === "drain") this.#machine.interrupt?.abort();
    this.#running ??= this.#run();
  }

  /** One of the writes that are known to come has come, or will not. */
  expectFewer(): void {
    if (!this.#hasMoreToCome) this.#holding?.abort();
  }

  /** A caller has withdrawn its write: what has not left does not leave, and nothing waits for its retry. */
  withdraw(): void {
    this.#settleWithdrawn();
    const isTaken = this.#taken.some(({ isWithdrawn }) => isWithdrawn);
    if (isTaken || this.#machine.state === "pausing") this.#machine.interrupt?.abort();
  }

  async #run(): Promise<void> {
    const gathering = new AbortController();
    this.#machine.on("submitted", gathering);
    await this.#sleepUnlessUrgent(this.#context.gatherMs(this.#id), gathering);
    this.#machine.on("windowClosed");
    while (this.#queue.waitMs !== undefined) {
      await this.#holdForMore();
      if (this.#context.closing.aborted) {
        failAll(this.#queue.takeAll(), STOPPING);
        break;
      }
      const batch = this.#queue.take();
      if (batch === undefined) {
        if (this.#queue.waitMs !== undefined) await this.#pause();
        continue;
      }
      this.#taken = batch.tickets;
      await this.#commit(batch, batch.mayStepBack ? new AbortController() : undefined);
      this.#taken = [];
      this.#settleWithdrawn();
      await this.#drains.over();
      this.#machine.on("drainsOver");
    }
    this.#machine.on("queueEmpty");
    // in the same turn as the empty take: the next write finds an idle lane
    this.#running = undefined;
    this.#onIdle();
  }

  /** Until no more is known to come than waits, and not for long. A drain, and what is to be deleted, holds nothing back. */
  async #holdForMore(): Promise<void> {
    if (this.#queue.waitMs !== 0 || !this.#queue.isPatient || !this.#hasMoreToCome) return;
    this.#holding = new AbortController();
    this.#machine.on("moreExpected", this.#holding);
    await this.#sleep(this.#context.holdMs(this.#id), this.#holding);
    this.#holding = undefined;
    this.#machine.on("windowClosed");
  }

  get #hasMoreToCome(): boolean {
    return this.#context.expected(this.#id) > this.#queue.size;
  }

  /** Until the next retry; a drain, or the end of what is waited for, ends it early. */
  async #pause(): Promise<void> {
    const pausing = new AbortController();
    this.#machine.on("noneDue", pausing);
    await this.#sleep(this.#queue.waitMs ?? 0, pausing);
    this.#machine.on("pauseOver");
  }

  /** `interrupt`: makes the batch step back while it has not left; absent where it may not. */
  async #commit(batch: Batch, interrupt: AbortController | undefined): Promise<void> {
    this.#machine.on("batchTaken", interrupt);
    const startMs = this.#context.clock.monotonicMs();
    const result = await this.#attempt(batch, interrupt);
    switch (result.kind) {
      case "interrupted":
        this.#queue.stepBack(batch);
        return this.#machine.on("interrupted");
      case "crashed":
        for (const ticket of batch.tickets) ticket.crash(result.reason);
        return this.#machine.on("failed");
      case "failed":
        this.#report(batch, startMs, { outcome: result.failure.kind, failure: result.failure });
        return this.#failed(batch, result);
      case "settled":
        this.#prior = NO_PRIOR_ATTEMPT;
        this.#report(batch, startMs, { outcome: result.outcome });
        this.#settle(result);
        return this.#machine.on("settled");
    }
  }

  /** `interrupted`: a drain came before it had left. */
  async #attempt(
    { tickets, priority, namespace }: Batch,
    interrupt: AbortController | undefined,
  ): Promise<AttemptResult | { readonly kind: "interrupted" }> {
    const { closing } = this.#context;
    const result = await attempt(tickets, this.#prior, {
      io: this.#context,
      turn: {
        priority,
        namespace,
        batchSize: tickets.length,
        spans: tickets.flatMap((ticket) => ticket.spans),
        signal: interrupt === undefined ? closing : AbortSignal.any([closing, interrupt.signal]),
        onHeld: (waitMs) => {
          for (const ticket of tickets) ticket.held(throttledFor(waitMs), waitMs);
        },
        onLeft: () => this.#machine.on("left"),
      },
      reading: (read) => this.#drains.reading(read),
      on: (event) => this.#machine.on(event, interrupt),
    });
    const wasHeldBack = result.kind !== "settled" && this.#machine.state !== "inFlight";
    return wasHeldBack && interrupt?.signal.aborted === true ? { kind: "interrupted" } : result;
  }

  /** Hundreds of callers may go on now: a drain that waits leaves before they begin. */
  #settle({ settled }: Extract<AttemptResult, { kind: "settled" }>): void {
    const settle = (): void => {
      for (const { ticket, outcome } of settled) ticket.settle(outcome);
    };
    if (this.#queue.isUrgent) void this.#urgentHasLeft().then(settle);
    else settle();
  }

  /** In one turn a write is merged, in the next given to a connection, and sent before the third. */
  async #urgentHasLeft(): Promise<void> {
    await this.#context.clock.nextTurn();
    await this.#context.clock.nextTurn();
  }

  #failed(batch: Batch, { failure, rollback }: Extract<AttemptResult, { kind: "failed" }>): void {
    const { id, tickets } = batch;
    if (maybeChanged(failure)) {
      this.#context.onSeen(wholeOf(id), undefined);
      this.#prior = { ...this.#prior, mustReread: true };
    }
    // where no fragment is at fault the content is as it should be: writing it once more makes it good
    if (rollback !== undefined && !isRetryable(failure)) this.#prior = { mustReread: true, rollback };
    if (tickets.length > 1 && shouldBisect(failure, tickets)) {
      this.#queue.setApart(splitBatch(tickets, failure));
      return this.#machine.on("setApart");
    }
    if (!isRetryable(failure)) {
      this.#giveUp(batch, failure);
      return this.#machine.on("failed");
    }
    const rest = this.#countFailure(tickets, failure);
    if (rest.length === 0) return this.#machine.on("failed");
    this.#retryLater(rest, failure);
    if (batch.isApart) this.#queue.setApart([rest]);
    else this.#queue.putBack(rest);
    if (failure.kind === "notProvisioned" && failure.referencedId) this.#context.repair(failure.referencedId);
    this.#machine.on("retryLater");
  }

  /** All of a batch and a namespace are retried together: no namespace waits as long as another's failures ask for. */
  #retryLater(rest: readonly Ticket[], failure: ArmFailure): void {
    const { clock, random } = this.#context;
    for (const group of Map.groupBy(rest, ({ namespace }) => namespace).values()) {
      const afterMs = retryWaitMs(failure, group, random, mostUrgent(group) === "drain");
      for (const ticket of group) ticket.retryLater({ failure, afterMs }, clock.monotonicMs() + afterMs);
    }
  }

  #settleWithdrawn(): void {
    for (const ticket of this.#queue.takeWithdrawn()) ticket.settle({ kind: "withdrawn" });
  }

  /** Fails those that have failed too often; answers the others. */
  #countFailure(tickets: readonly Ticket[], failure: ArmFailure): Ticket[] {
    for (const ticket of tickets) {
      if (isConflict(failure)) ticket.conflicts += 1;
      else ticket.failures += 1;
    }
    failAll(tickets.filter(isSpent), failure);
    return tickets.filter((ticket) => !isSpent(ticket));
  }

  /** Where drains wait they leave together: also those that are submitted in the same turn. */
  async #sleepUnlessUrgent(ms: number, interrupt: AbortController | undefined): Promise<void> {
    if (!this.#queue.isUrgent) await this.#sleep(ms, interrupt);
  }

  /** Cut short when the process stops. */
  async #sleep(ms: number, interrupt: AbortController | undefined): Promise<void> {
    const { clock, closing } = this.#context;
    const signal = interrupt === undefined ? closing : AbortSignal.any([closing, interrupt.signal]);
    await clock.sleep(ms, signal).catch(() => {});
  }

  /** What a refused write has left behind must go, even if no other write follows. */
  #giveUp({ id, tickets }: Batch, failure: ArmFailure): void {
    failAll(tickets, failure);
    if (this.#prior.rollback === undefined || tickets[0]?.kind === RESTORE) return;
    const write = { id: wholeOf(id), kind: RESTORE, fragment: undefined, priority: "create" } as const;
    const [ticket, outcome] = RESTORE.open(write, this.#context.clock.monotonicMs());
    outcome.catch(() => {}); // no caller waits for it
    this.#queue.add(ticket);
  }

  #report({ id, tickets }: Batch, startMs: number, result: Pick<AttemptReport, "outcome" | "failure">): void {
    const kind = tickets[0]?.kind.name ?? "";
    const durationMs = this.#context.clock.monotonicMs() - startMs;
    const sinceMs = Math.min(startMs, ...tickets.map((ticket) => ticket.sinceMs));
    const size = tickets.length;
    this.#context.onAttempt({ id, kind, size, owners: ownersOf(tickets), durationMs, sinceMs, ...result });
  }
}

/** Of fragments that bear their owner. */
function ownersOf(tickets: readonly Ticket[]): string[] {
  return tickets.flatMap(({ fragment }) => textField(field(fragment, "owner"), "key") ?? []);
}

function failAll(tickets: readonly Ticket[], failure: ArmFailure): void {
  for (const ticket of tickets) ticket.settle({ kind: "failed", failure });
}
