/**
 * From a taint to Azure at once: each node that begins or ceases to be doomed is one piece of work on a queue of its
 * own, which nothing else can fill. What is written, and that many nodes share a write, is `admin-state-manager.ts`'s.
 *
 *   what happened                                    | what follows
 *   -------------------------------------------------|---------------------------------------------------------
 *   a node begins or ceases to be doomed             | its pools are updated, until that has come true
 *   a node appears that is not doomed                | all pools are looked over: a namesake may have left it Down
 *   a network interface joined a pool                | the same, if any node is doomed
 *   every drift period                               | the same
 *   a node is deleted                                | nothing: its entries go with it
 *   a node asks for something else during a retry    | the older state is dropped
 *
 * @design AdminStateController
 */
import { BACKOFF } from "../../core/retry.ts";
import type { FailedAttempt } from "../azure-connection.ts";
import { describeFailure } from "../../azure/arm/failure-text.ts";
import { ArmError } from "../../azure/arm/failures.ts";
import type { Clock, Random } from "../../core/util/clock.ts";
import type { Log } from "../../core/util/log.ts";
import type { Reflector } from "../../kube/cache/reflector.ts";
import type { Change } from "../../kube/cache/store.ts";
import { WorkQueue, type Job, type Verdict } from "../../kube/work-queue.ts";
import { ADMIN_STATE, type AdminStateManager, type PoolUpdate, type Whose } from "./admin-state-manager.ts";
import type { AdminStateEvents } from "./admin-state-events.ts";
import { DrainingNodes, type Transition } from "./draining-nodes.ts";
import type { Metrics } from "../metrics.ts";
import { nextAttempt } from "../service/next-attempt.ts";
import type { CachedNode } from "../projections.ts";
import { errorText } from "../../core/util/text.ts";

export interface AdminStateControllerOptions {
  readonly nodes: Reflector<CachedNode>;
  readonly manager: AdminStateManager;
  readonly events: AdminStateEvents;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Keys of a look over all pools, believing what was last read or not. */
const ALL = "all";
const ALL_AFRESH = "all, afresh";
const WHOSE: Readonly<Record<string, Whose>> = { [ALL]: { all: "known" }, [ALL_AFRESH]: { all: "afresh" } };
/** They only wait for Azure, together; none may wait for another. */
const WORKERS = 10_000;

export class AdminStateController {
  readonly #options: AdminStateControllerOptions;
  readonly #queue: WorkQueue;
  readonly #draining = new DrainingNodes();

  constructor(options: AdminStateControllerOptions) {
    this.#options = options;
    const { metrics, clock, random, log } = options;
    this.#queue = new WorkQueue({
      clock,
      random,
      workers: WORKERS,
      backoff: BACKOFF.drain,
      work: (job) => this.#work(job),
      onError: (_, error) => log.error(`admin state: ${String(error)}`),
    });
    metrics.loops.addQueue("adminstate", this.#queue);
  }

  /** Call once the caches are filled. */
  start(): void {
    this.#options.nodes.subscribe((change) => this.#notice(change));
    this.#queue.start();
  }

  /** Repairs what was missed, or edited by hand. */
  resync(): void {
    this.#queue.add(ALL);
  }

  /** A network interface joined a pool: only now can its state be set. */
  joined(): void {
    if (this.#draining.size > 0) this.#queue.add(ALL_AFRESH);
  }

  /** Each failed attempt to write, of whichever kind. */
  attemptFailed({ id, kind, failure }: FailedAttempt): void {
    if (kind !== ADMIN_STATE.name) return;
    const { metrics, events } = this.#options;
    metrics.drainErrors.inc({ kind: failure.kind });
    if (failure.kind === "throttled") metrics.drainThrottled.inc();
    if (failure.kind === "conflict" || failure.kind === "fenced") return; // merged anew in a moment; another process leads
    for (const transition of this.#draining.underway())
      events.failed(transition, id, describeFailure(failure, "its pool"));
  }

  stop(patienceMs: number): Promise<void> {
    return this.#queue.stop(patienceMs);
  }

  #notice(change: Change<CachedNode>): void {
    const { clock, metrics, events } = this.#options;
    if (change.kind === "deleted") {
      this.#draining.forget(change.object);
      events.forget(change.object);
    } else {
      const transition = this.#draining.see(change.object, clock.monotonicMs());
      if (transition !== undefined) this.#queue.add(transition.key);
      else if (change.kind === "added") this.resync();
    }
    for (const [reason, count] of Object.entries(this.#draining.byReason()))
      metrics.drainingNodes.set({ reason }, count);
  }

  async #work({ key, failures, signal }: Job): Promise<Verdict> {
    const transition = this.#draining.current(key);
    const whose = transition ?? WHOSE[key];
    if (whose === undefined) return { kind: "done" };
    try {
      const updates = await this.#options.manager.update(whose, signal);
      for (const { outcome, place } of updates) {
        if (typeof outcome === "object") throw new ArmError(outcome, `setting admin states in ${place.id}`);
      }
      if (transition !== undefined) this.#settle(transition, failures > 0 ? updates : updates.filter(isWritten));
      return { kind: "done" };
    } catch (error) {
      const { afterMs } = nextAttempt(error, failures);
      const isEnd = error instanceof ArmError && error.failure.kind === "fenced"; // another process leads, or this one stops
      if (!isEnd) this.#options.log.warn(`admin state: ${errorText(error)}`);
      return { kind: "retry", ...(afterMs !== undefined && { afterMs: Math.min(afterMs, BACKOFF.drain.capMs) }) };
    }
  }

  /** `updates`: what it took; after a failure an earlier try may have written what the last one found right. */
  #settle(transition: Transition, updates: readonly PoolUpdate[]): void {
    const { clock, metrics, events } = this.#options;
    if (this.#draining.current(transition.key) !== transition) return; // it asks for something else by now
    this.#draining.over(transition);
    events.forget(transition.node);
    if (updates.length === 0) return;
    const { state, seenMs } = transition;
    metrics.drainSeconds.observe({ state }, (clock.monotonicMs() - seenMs) / 1000);
    events.settled(transition, updates);
  }
}

function isWritten({ outcome }: PoolUpdate): boolean {
  return outcome === "written";
}
