/**
 * From a taint to Azure at once: each node that begins or ceases to be doomed is one piece of work on a queue of its
 * own, which nothing else can fill. What is written, and that many nodes share a write, is `admin-state-manager.ts`'s.
 *
 *   what happened                                    | what follows
 *   -------------------------------------------------|---------------------------------------------------------
 *   a node begins or ceases to be doomed             | its pools are updated, until that has come true
 *   a node begins to be deleted (it has a finalizer) | the same, before the pools' own loop removes its entries
 *   a node appears that is not doomed                | all pools are looked over: a namesake may have left it Down
 *   a network interface joined a pool, or may have   | the same, if any node is doomed
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
import type { DrainAccounts } from "./drain-accounts.ts";
import type { Metrics } from "../metrics.ts";
import { nextAttempt } from "../service/next-attempt.ts";
import type { CachedNode } from "../projections.ts";
import { errorText } from "../../core/util/text.ts";
import {
  DRAIN_REASONS,
  desiredAdminState,
  drainReasons,
  type DrainReason,
} from "../../core/admin-state/reconcile-admin-state.ts";
import type { Node } from "../../core/model/kubernetes.ts";

export interface AdminStateControllerOptions {
  readonly nodes: Reflector<CachedNode>;
  readonly manager: AdminStateManager;
  readonly events: AdminStateEvents;
  readonly accounts: DrainAccounts;
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

  /** A network interface joined a pool, or may have: only now can its state be set. */
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
    const { clock, metrics, events, accounts } = this.#options;
    if (change.kind === "deleted") {
      const { isDown } = this.#draining.forget(change.object);
      accounts.gone(change.object, isDown);
      events.forget(change.object);
    } else {
      const transition = this.#draining.see(change.object, clock.monotonicMs());
      if (transition !== undefined) this.#queue.add(transition.key);
      else if (change.kind === "added") this.resync();
      // left over where the taint went while no controller ran
      if (transition === undefined && !this.#draining.isDoomed(change.object)) accounts.over(change.object);
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
      if (transition !== undefined) this.#settle(transition, updates, failures > 0);
      return { kind: "done" };
    } catch (error) {
      const { afterMs } = nextAttempt(error, failures);
      const isEnd = error instanceof ArmError && error.failure.kind === "fenced"; // another process leads, or this one stops
      if (!isEnd) this.#options.log.warn(`admin state: ${errorText(error)}`);
      return { kind: "retry", ...(afterMs !== undefined && { afterMs: Math.min(afterMs, BACKOFF.drain.capMs) }) };
    }
  }

  /** After a failure an earlier try may have written what the last one found right. */
  #settle(transition: Transition, all: readonly PoolUpdate[], hadFailed: boolean): void {
    const { clock, metrics, events } = this.#options;
    if (this.#draining.current(transition.key) !== transition) return; // it asks for something else by now
    this.#draining.over(transition);
    events.forget(transition.node);
    const { state, seenMs } = transition;
    const tookMs = clock.monotonicMs() - seenMs;
    this.#account(transition, clock.nowMs() - tookMs, all);
    const updates = hadFailed ? all : all.filter(isWritten);
    if (updates.length === 0) return;
    metrics.drainSeconds.observe({ state }, tookMs / 1000);
    events.settled(transition, updates);
  }

  /** `seenMs`: of the wall clock. */
  #account({ state, node: then }: Transition, seenMs: number, updates: readonly PoolUpdate[]): void {
    const { nodes, manager, accounts } = this.#options;
    const { name, uid } = then.metadata;
    const newest = nodes.store.get(name);
    if (newest?.metadata.uid !== uid) return;
    if (state === "None") accounts.over(newest);
    else accounts.down(newest, seenMs, manager.poolsOf(newest, updates));
  }
}

function isWritten({ outcome }: PoolUpdate): boolean {
  return outcome === "written";
}

/** A node asks for another state than before. */
export interface Transition {
  /** Tells it from earlier and later ones of the same node. */
  readonly key: string;
  readonly node: Node;
  readonly state: "Down" | "None";
  /** When the taint, or its absence, was seen; of the monotonic clock. */
  readonly seenMs: number;
}

/**
 * Which nodes are held Down, why, and what last became of each, by UID: a node that is made anew under the same name
 * inherits nothing. For metrics, and to know when what was begun for a node is no longer what it asks for.
 */
export class DrainingNodes {
  /** By UID: every node that is held Down. */
  readonly #reasons = new Map<string, readonly DrainReason[]>();
  /** By UID: the newest transition of each node, until it is over. */
  readonly #newest = new Map<string, Transition>();
  readonly #byKey = new Map<string, Transition>();
  #count = 0;

  /** The transition that this sight of the node begins, if it does. */
  see(node: Node, seenMs: number): Transition | undefined {
    const { uid } = node.metadata;
    const state = desiredAdminState(node);
    const wasDown = this.#reasons.has(uid);
    if (state === "Down") this.#reasons.set(uid, drainReasons(node));
    else this.#reasons.delete(uid);
    if (wasDown === (state === "Down")) return undefined;
    this.over(this.#newest.get(uid));
    const transition = { key: `${uid} ${++this.#count}`, node, state, seenMs };
    this.#newest.set(uid, transition);
    this.#byKey.set(transition.key, transition);
    return transition;
  }

  /** Held Down, or on its way from there. */
  isDoomed({ metadata: { uid } }: Node): boolean {
    return this.#reasons.has(uid) || this.#newest.has(uid);
  }

  /** `isDown`: it was to be Down, and is. */
  forget({ metadata: { uid } }: Node): { readonly isDown: boolean } {
    const wasToBeDown = this.#reasons.delete(uid);
    const newest = this.#newest.get(uid);
    this.over(newest);
    return { isDown: wasToBeDown && newest === undefined };
  }

  /** `undefined`: over, or the node asks for something else by now, or has gone. */
  current(key: string): Transition | undefined {
    return this.#byKey.get(key);
  }

  /** Every transition that is not over. */
  underway(): IterableIterator<Transition> {
    return this.#byKey.values();
  }

  get size(): number {
    return this.#reasons.size;
  }

  byReason(): Readonly<Record<string, number>> {
    const counts = new Map<DrainReason, number>(DRAIN_REASONS.map((reason) => [reason, 0]));
    for (const reason of [...this.#reasons.values()].flat()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    return Object.fromEntries(counts);
  }

  over(transition: Transition | undefined): void {
    if (transition === undefined) return;
    this.#byKey.delete(transition.key);
    const { uid } = transition.node.metadata;
    if (this.#newest.get(uid) === transition) this.#newest.delete(uid);
  }
}
