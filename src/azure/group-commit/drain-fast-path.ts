/**
 * Drains go past reads. When a write is over, what came of it is read before anything else of the same resource leaves:
 * a megabyte and more, where a drain needs but the part that it is about, which bears the same ETag. So the drain looks
 * at that alone and leaves, in one attempt; the whole is read while it is on its way. Where that fails, or there is any
 * doubt, it has its turn as if nothing had been tried.
 *
 *   a write, over ─┬─ (a drain has left) ─ whole read: those whose write it was go on
 *                  └─ drain: part read, PUT … over ─┬─ (the next has left) ─ whole read: the drain is done
 *                                                   └─ next drain: …
 *
 * Reads of the whole are done one after the other, so that what was seen last is the newest.
 */
import type { Clock } from "../../core/util/clock.ts";
import type { Merged } from "../../core/outcome.ts";
import {
  GiveWayError,
  guarded,
  needsFreshRead,
  mergeFragments,
  noted,
  settledAs,
  type CommitContext,
} from "./commit-batch.ts";
import type { Batch, CommitQueue } from "./commit-queue.ts";
import type { ArmBody, AttemptReport } from "./commit-types.ts";
import { ArmError } from "../arm/failures.ts";
import { isBroken, isChanging, wholeOf } from "./resource-parts.ts";
import { assertResourceShape } from "../arm/resource-shape.ts";
import { maybeChanged } from "./retry-policy.ts";

export interface DrainFastPathOptions {
  /** Of the whole resource. */
  readonly id: string;
  readonly queue: CommitQueue;
  readonly context: CommitContext & { readonly clock: Clock };
  readonly report: (batch: Batch, startMs: number, result: Pick<AttemptReport, "outcome" | "failure">) => void;
}

/** A drain that was composed. */
interface Composed {
  readonly part: ArmBody;
  readonly merged: Merged<ArmBody>;
  readonly body: ArmBody;
}

/** How often a drain that has not left takes in what came meanwhile. */
const MOST_JOINED = 2;

export class DrainFastPath {
  readonly #options: DrainFastPathOptions;
  #lastRead: Promise<unknown> = Promise.resolve();
  readonly #underWay = new Set<Promise<void>>();
  /** What was read meanwhile may be from before a write of which we don't know what became. */
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

  async #pass(batch: Batch, hasLeft: () => void, look = this.#look(batch.id), joined = 0): Promise<void> {
    const { context, queue, report } = this.#options;
    const startMs = context.clock.monotonicMs();
    try {
      const composed = compose(await look, batch);
      if (composed === undefined) return queue.putBack(batch.tickets);
      await this.#send(batch, composed, joined < MOST_JOINED && !batch.isApart, hasLeft);
      report(batch, startMs, { outcome: "written" });
      await this.#readBack(batch, composed);
    } catch (error) {
      if (error instanceof GiveWayError) return this.#pass(queue.joined(batch), hasLeft, look, joined + 1);
      if (!(error instanceof ArmError)) {
        for (const ticket of batch.tickets) ticket.crash(error);
        return;
      }
      report(batch, startMs, { outcome: error.failure.kind, failure: error.failure });
      this.#isUnsure ||= maybeChanged(error.failure);
      queue.putBack(batch.tickets);
    }
  }

  /** `undefined` also where it cannot be read, or is in no state to be written: whoever reads the whole next says why. */
  async #look(id: string): Promise<ArmBody | undefined> {
    const { client, closing } = this.#options.context;
    try {
      const found = await client.find<ArmBody>(id, { priority: "drain", signal: closing });
      const part = found && assertResourceShape(found, `looking at ${id}`);
      return part?.etag === undefined || isChanging(part) || isBroken(part) ? undefined : part;
    } catch (error) {
      if (error instanceof ArmError) return undefined;
      throw error;
    }
  }

  /** Throws a `GiveWayError` where more has come for it before it has left. */
  async #send(batch: Batch, { part, body }: Composed, mayJoin: boolean, hasLeft: () => void): Promise<void> {
    const { context, queue } = this.#options;
    const { guard, ...options } = guarded(context, "drain");
    const lastWord = async (): Promise<void> => {
      await guard?.();
      if (mayJoin && queue.hasMoreFor(batch)) throw new GiveWayError();
      void context.clock.nextTurn().then(hasLeft); // given to a connection in this turn, sent in the next
    };
    await context.client.putUnread(batch.id, body, { ...options, guard: lastWord, ifMatch: part.etag });
  }

  async #readBack(batch: Batch, { part, merged }: Composed): Promise<void> {
    const { context, queue } = this.#options;
    const { client, closing } = context;
    const id = wholeOf(batch.id);
    try {
      const read = await this.reading(() => client.get<ArmBody>(id, { priority: "drain", signal: closing }));
      const body = noted(read, id, part.etag, context);
      for (const [ticket, outcome] of settledAs({ kind: "written", body }, merged, batch.tickets))
        ticket.settle(outcome);
    } catch (error) {
      if (!(error instanceof ArmError)) throw error;
      this.#isUnsure = true;
      queue.putBack(batch.tickets); // to be found done
    }
  }
}

/** `undefined`: there is nothing to write, or bad news, which wants a look at the whole. */
function compose(part: ArmBody | undefined, { tickets }: Batch): Composed | undefined {
  if (part === undefined) return undefined;
  const merged = mergeFragments(part, tickets);
  if (merged.outcome.kind !== "put" || needsFreshRead(merged)) return undefined;
  return { part, merged, body: merged.outcome.body };
}
