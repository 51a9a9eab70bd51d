/**
 * Drains go past reads. When a write is over, the whole is read before anything else of the same resource leaves: a
 * megabyte and more, where a drain needs only the part that it is about, which bears the same ETag. So the drain reads
 * that part alone and leaves, in one attempt; the whole is read while it is on its way. Where that fails, or there is any
 * doubt, the drain goes back to the queue and has its turn as if nothing had been tried. Its states: `lane-states.ts`.
 *
 *   a write, over ─┬─ (a drain has left) ─ whole read: the callers of the write go on
 *                  └─ drain: part read, PUT … over ─┬─ (the next has left) ─ whole read: the drain is done
 *                                                   └─ next drain: …
 *
 * Reads of the whole are done one after the other, so that what was seen last is the newest.
 */
import type { Span } from "../../core/util/tracer.ts";
import type { Merged } from "../../core/outcome.ts";
import { ArmError } from "../arm/failures.ts";
import { assertResourceShape } from "../arm/arm-client.ts";
import type { Batch, CommitQueue } from "./commit-queue.ts";
import type { ArmBody, AttemptReport } from "./commit-types.ts";
import { noteRead, writeOptions, type LaneIo, settlements } from "./attempt.ts";
import { StateMachine } from "../../core/util/state-machine.ts";
import { DRAIN, type DrainEvent, type DrainState } from "./lane-states.ts";
import { mergeTickets, needsFreshRead } from "./choose-base.ts";
import { isBroken, isChanging } from "../arm/response-body.ts";
import { wholeOf } from "../../core/model/ids.ts";
import { maybeChanged } from "./retry-policy.ts";

export interface DrainFastPathOptions {
  /** Of the whole resource. */
  readonly id: string;
  readonly queue: CommitQueue;
  readonly context: LaneIo & { readonly closing: AbortSignal };
  readonly report: (batch: Batch, startMs: number, result: Pick<AttemptReport, "outcome" | "failure">) => void;
}

/** A drain that was composed. */
interface Composed {
  readonly part: ArmBody;
  readonly merged: Merged<ArmBody>;
  readonly body: ArmBody;
}

export class DrainFastPath {
  readonly #options: DrainFastPathOptions;
  #lastRead: Promise<unknown> = Promise.resolve();
  readonly #underWay = new Set<Promise<void>>();
  /** What was read meanwhile may be from before a write whose end is unknown. */
  #isUnsure = false;

  constructor(options: DrainFastPathOptions) {
    this.#options = options;
  }

  /** Reads the whole after a write; drains that wait leave first. Those that come while it is read go by what it shows. */
  async reading<Body>(read: () => Promise<Body>): Promise<Body> {
    await this.#go();
    const whole = this.#lastRead.then(read);
    this.#lastRead = whole.catch(() => {});
    return whole;
  }

  /** Resolves when nothing is under way any more, and what was last seen can be built on. */
  async over(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    if (this.#isUnsure) this.#options.context.onSeen(this.#options.id, undefined);
    this.#isUnsure = false;
  }

  /** Resolves when a drain that waits has left, or can't. */
  #go(): Promise<void> {
    const batch = this.#options.queue.takeDrainOfPart();
    if (batch === undefined) return Promise.resolve();
    const left = Promise.withResolvers<void>();
    const passing: Promise<void> = this.#pass(batch, left.resolve).finally(() => {
      this.#underWay.delete(passing);
      left.resolve();
    });
    this.#underWay.add(passing);
    return left.promise;
  }

  async #pass(first: Batch, hasLeft: () => void): Promise<void> {
    const { context, queue, report } = this.#options;
    const machine = new StateMachine<DrainState, DrainEvent>(DRAIN, "readingPart");
    const startMs = context.clock.monotonicMs();
    let batch = first;
    try {
      const part = await this.#readPart(batch);
      if (part === undefined) return this.#return(batch, machine, "unsuitable");
      machine.on("partRead");
      for (;;) {
        const composed = compose(part, batch);
        if (composed === undefined) return this.#return(batch, machine, "unsuitable");
        machine.on("composed");
        if ((await this.#send(batch, composed, machine, hasLeft)) === "joined") {
          batch = queue.joined(batch);
          continue;
        }
        report(batch, startMs, { outcome: "written" });
        return await this.#readBack(batch, composed, machine);
      }
    } catch (error) {
      if (!(error instanceof ArmError)) {
        for (const ticket of batch.tickets) ticket.crash(error);
        return;
      }
      report(batch, startMs, { outcome: error.failure.kind, failure: error.failure });
      this.#isUnsure ||= maybeChanged(error.failure);
      this.#return(batch, machine, "failed");
    }
  }

  /** It has its turn in the queue. */
  #return({ tickets }: Batch, machine: StateMachine<DrainState, DrainEvent>, why: "unsuitable" | "failed"): void {
    machine.on(why);
    this.#options.queue.putBack(tickets);
  }

  /** `undefined` also where it cannot be read, or is in no state to be written: the next read of the whole tells why. */
  async #readPart(batch: Batch): Promise<ArmBody | undefined> {
    const { client, closing } = this.#options.context;
    const { id } = batch;
    try {
      const found = await client.find<ArmBody>(id, { priority: "drain", signal: closing, spans: spansOf(batch) });
      const part = found && assertResourceShape(found, `looking at ${id}`);
      return part?.etag === undefined || isChanging(part) || isBroken(part) ? undefined : part;
    } catch (error) {
      if (error instanceof ArmError) return undefined;
      throw error;
    }
  }

  /** `joined`: it has not left, since more has come for it. */
  async #send(
    batch: Batch,
    { part, body }: Composed,
    machine: StateMachine<DrainState, DrainEvent>,
    hasLeft: () => void,
  ): Promise<"written" | "joined"> {
    const { context, queue } = this.#options;
    const mayJoin = !batch.isApart && batch.mayStepBack;
    const join = new AbortController();
    const options = writeOptions(
      {
        priority: "drain",
        batchSize: batch.tickets.length,
        spans: spansOf(batch),
        signal: AbortSignal.any([context.closing, join.signal]),
        beforeLeaving: () => {
          if (mayJoin && machine.state === "awaitingTurn" && queue.hasMoreFor(batch)) join.abort();
        },
        onLeft: () => {
          machine.on("left");
          void context.clock.nextTurn().then(hasLeft); // given to a connection in this turn, sent in the next
        },
      },
      context,
    );
    try {
      await context.client.putUnread(batch.id, body, { ...options, ifMatch: part.etag });
    } catch (error) {
      if (!join.signal.aborted) throw error;
      machine.on("joined");
      return "joined";
    }
    machine.on("written");
    return "written";
  }

  async #readBack(
    batch: Batch,
    { part, merged }: Composed,
    machine: StateMachine<DrainState, DrainEvent>,
  ): Promise<void> {
    const { context } = this.#options;
    const { client, closing } = context;
    const id = wholeOf(batch.id);
    try {
      const options = { priority: "drain", signal: closing, spans: spansOf(batch) } as const;
      const read = await this.reading(() => client.get<ArmBody>(id, options));
      const body = noteRead(read, id, part.etag, context);
      for (const { ticket, outcome } of settlements({ kind: "written", body }, merged, batch.tickets))
        ticket.settle(outcome);
      machine.on("wholeRead");
    } catch (error) {
      if (!(error instanceof ArmError)) throw error;
      this.#isUnsure = true;
      this.#return(batch, machine, "failed"); // to be found done
    }
  }
}

function spansOf({ tickets }: Batch): readonly Span[] {
  return tickets.flatMap(({ spans }) => spans);
}

/** `undefined`: there is nothing to write, or something that wants a read of the whole. */
function compose(part: ArmBody, { tickets }: Batch): Composed | undefined {
  const merged = mergeTickets(part, tickets);
  if (merged.outcome.kind !== "put" || needsFreshRead(merged)) return undefined;
  return { part, merged, body: merged.outcome.body };
}
