/**
 * From a taint to Azure at once: each node that begins or ceases to be doomed is one piece of work on a queue of its
 * own, which nothing else can fill. What is written, and that many nodes share a write, is `admin-state-manager.ts`'s.
 *
 *   what happened                                    | what follows
 *   -------------------------------------------------|---------------------------------------------------------
 *   a node begins or ceases to be doomed             | its pools are updated, until that has come true
 *   a node begins to be deleted (it has a finalizer) | the same, before the pools' own loop removes its entries
 *   a node appears whose namesake went while Down    | the same, so that it is told if its entry cannot be set back
 *   another node appears that is not doomed          | all pools are looked over: a namesake may have left it Down
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
import type { DrainSpans } from "./drain-spans.ts";
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
  /** See `AdminStateOptions`. */
  readonly backendsDown: (node: string) => Promise<readonly string[] | undefined>;
  readonly spans: DrainSpans;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Keys of a look over all pools, believing what was last read or not. */
const ALL = "all";
const ALL_AFRESH = "all, afresh";
const WHOSE: Readonly<Record<string, Whose>> = { [ALL]: { all: "known" }, [ALL_AFRESH]: { all: "afresh" } };
/** Until LBCF's pools that could not be written are looked at again. */
const BACKENDS_AGAIN_MS = 1_000;
/** They only wait for Azure, together; none may wait for another. */
const WORKERS = 10_000;

export class AdminStateController {
  readonly #options: AdminStateControllerOptions;
  readonly #queue: WorkQueue;
  readonly #draining = new DrainingNodes();
  /** UIDs of nodes that are Down in the pools of Services, and not known to be in those of LBCF. */
  readonly #halfDown = new Set<string>();
  readonly #ending = new AbortController();

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
    const isWaiting = failure.kind === "busy" && failure.status === undefined; // it is written, and not yet in effect
    if (kind !== ADMIN_STATE.name || isWaiting) return;
    const { metrics, events } = this.#options;
    metrics.drainErrors.inc({ kind: failure.kind });
    if (failure.kind === "throttled") metrics.drainThrottled.inc();
    if (failure.kind === "conflict" || failure.kind === "fenced") return; // merged anew in a moment; another process leads
    for (const transition of this.#draining.underway())
      events.failed(transition, id, describeFailure(failure, "its pool"));
  }

  stop(patienceMs: number): Promise<void> {
    this.#ending.abort(new Error("the controller stops"));
    return this.#queue.stop(patienceMs);
  }

  #notice(change: Change<CachedNode>): void {
    const { clock, metrics, events, accounts, spans } = this.#options;
    if (change.kind === "deleted") {
      spans.end(change.object, "the Node was deleted");
      const { isDown } = this.#draining.forget(change.object);
      accounts.gone(change.object, isDown && !this.#halfDown.has(change.object.metadata.uid));
      events.forget(change.object);
    } else {
      const transition = this.#draining.see(change.object, clock.monotonicMs());
      if (transition !== undefined) {
        spans.begin(change.object, transition.state);
        this.#queue.add(transition.key);
      } else if (change.kind === "added") this.resync();
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
    const { clock, metrics, events, spans } = this.#options;
    if (this.#draining.current(transition.key) !== transition) return; // it asks for something else by now
    this.#draining.over(transition);
    spans.end(transition.node);
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
  #account({ state, node }: Transition, seenMs: number, updates: readonly PoolUpdate[]): void {
    const { manager, accounts } = this.#options;
    const newest = this.#newestOf(node);
    if (newest === undefined) return;
    if (state === "None") accounts.over(newest);
    else void this.#accountDown(newest, seenMs, manager.poolsOf(newest, updates));
  }

  /** Once backends of LBCF on the node are Down too. */
  async #accountDown(node: CachedNode, seenMs: number, pools: readonly string[]): Promise<void> {
    const { backendsDown, accounts, clock } = this.#options;
    const { name, uid } = node.metadata;
    this.#halfDown.add(uid);
    while (!this.#ending.signal.aborted) {
      const more = await backendsDown(name);
      const newest = this.#newestOf(node);
      if (newest === undefined || desiredAdminState(newest) !== "Down") break;
      if (more !== undefined) {
        accounts.down(newest, seenMs, [...pools, ...more]);
        break;
      }
      await clock.sleep(BACKENDS_AGAIN_MS, this.#ending.signal).catch(() => {});
    }
    this.#halfDown.delete(uid);
  }

  #newestOf({ metadata: { name, uid } }: Node): CachedNode | undefined {
    const newest = this.#options.nodes.store.get(name);
    return newest?.metadata.uid === uid ? newest : undefined;
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

/** Names of nodes that went, of which the oldest are forgotten first: a look over all pools finds their namesakes, too. */
const MOST_LEFT_DOWN = 1_000;

/**
 * Which nodes are held Down, why, and what last became of each, by UID: a node that is made anew under the same name
 * inherits nothing but the entry of the former one, which may still be Down. For metrics, and to know when what was begun
 * for a node is no longer what it asks for.
 */
export class DrainingNodes {
  /** By UID: every node that is held Down. */
  readonly #reasons = new Map<string, readonly DrainReason[]>();
  /** By UID: the newest transition of each node, until it is over. */
  readonly #newest = new Map<string, Transition>();
  readonly #byKey = new Map<string, Transition>();
  /** Names of nodes that went while they were to be Down. */
  readonly #leftDown = new Set<string>();
  #count = 0;

  /** The transition that this sight of the node begins, if it does. */
  see(node: Node, seenMs: number): Transition | undefined {
    const { uid, name } = node.metadata;
    const state = desiredAdminState(node);
    const wasDown = this.#reasons.has(uid);
    const isLeftDown = this.#leftDown.delete(name);
    if (state === "Down") this.#reasons.set(uid, drainReasons(node));
    else this.#reasons.delete(uid);
    if (state === "Down" ? wasDown : !wasDown && !isLeftDown) return undefined;
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
  forget({ metadata: { uid, name } }: Node): { readonly isDown: boolean } {
    const wasToBeDown = this.#reasons.delete(uid);
    if (wasToBeDown) this.#leaveDown(name);
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

  #leaveDown(name: string): void {
    this.#leftDown.delete(name);
    this.#leftDown.add(name);
    const [oldest = name] = this.#leftDown;
    if (this.#leftDown.size > MOST_LEFT_DOWN) this.#leftDown.delete(oldest);
  }

  over(transition: Transition | undefined): void {
    if (transition === undefined) return;
    this.#byKey.delete(transition.key);
    const { uid } = transition.node.metadata;
    if (this.#newest.get(uid) === transition) this.#newest.delete(uid);
  }
}
