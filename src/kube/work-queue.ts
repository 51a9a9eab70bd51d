/**
 * A queue of keys, not of events: a key means that its object is to be looked at again. So many changes of one object are
 * one piece of work, and nothing is lost when a change arrives while the object is being worked on.
 *
 *   add(key) while it is | effect
 *   ---------------------|---------------------------------------------------------------------
 *   queued               | nothing, or it moves up to the more urgent priority
 *   delayed, backing off | runs at the earlier of the two times: at once when `add` has no delay
 *   running              | runs again right after, never twice at the same time
 *
 * Which of the keys that are due runs first: `ready-keys.ts`. What the work is, and how long a particular failure should
 * wait, is the worker's to decide.
 */
import { BACKOFF, type Backoff } from "../core/retry.ts";
import type { Clock, Random, Timer } from "../core/util/clock.ts";
import { backoffMs } from "./client/backoff.ts";
import { ReadyKeys } from "./ready-keys.ts";

/** The worker's result for a key; throwing means `retry`. */
export type Verdict =
  | { readonly kind: "done" }
  /** Look again later. Not a failure: the key's backoff starts afresh. */
  | { readonly kind: "again"; readonly afterMs: number }
  /** It failed: after that long, else after the key's own exponential backoff. */
  | { readonly kind: "retry"; readonly afterMs?: number };

export interface Job {
  readonly key: string;
  /** How many times in a row it failed before. */
  readonly failures: number;
  /** Aborted when the queue stops and its patience is over. */
  readonly signal: AbortSignal;
}

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly workers: number;
  readonly work: (job: Job) => Promise<Verdict>;
  readonly backoff?: Backoff;
  /**
   * Groups of keys take turns within a priority: the namespace, say; and no group has all workers, so that a worker is left
   * for another group whatever keeps this one's. Without it all keys are one group, which has them all.
   */
  readonly groupOf?: (key: string) => string;
  /** The worker threw: for logs. The key is retried. */
  readonly onError?: (key: string, error: unknown) => void;
}

export interface AddOptions {
  readonly afterMs?: number;
  readonly priority?: number;
}

interface Entry {
  readonly key: string;
  readonly group: string;
  failures: number;
  priority: number;
  state: "queued" | "delayed" | "running" | "idle";
  /** Of a running key: added again meanwhile, with the earliest time asked for. */
  again: { dueMs: number; priority: number } | undefined;
  timer: Timer | undefined;
  dueMs: number;
}

/** For metrics. */
export interface QueueStats {
  /** Due, waiting for a worker. */
  readonly queued: number;
  readonly running: number;
  /** Not due yet. */
  readonly delayed: number;
  /** Work that ended, failed or not; only grows. */
  readonly runs: number;
  /** Work that is tried again because it failed; only grows. */
  readonly failures: number;
}

/** Share of the workers that one group leaves to others. */
const LEFT_TO_OTHERS = 0.1;

export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #queued = new ReadyKeys<Entry>();
  /** By group: how many of its keys run. */
  readonly #workersOf = new Map<string, number>();
  readonly #mostPerGroup: number;
  readonly #abort = new AbortController();
  readonly #idleWaiters: (() => void)[] = [];
  #running = 0;
  /** Of those that run: how many wait aside. */
  #aside = 0;
  #waking = false;
  #state: "new" | "started" | "stopped" = "new";
  #runs = 0;
  #failed = 0;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    const { workers, groupOf } = options;
    this.#mostPerGroup = groupOf === undefined ? workers : Math.max(1, Math.floor(workers * (1 - LEFT_TO_OTHERS)));
  }

  start(): void {
    if (this.#state !== "new") throw new Error("a work queue starts once");
    this.#state = "started";
    this.#wake();
  }

  add(key: string, { afterMs = 0, priority = 0 }: AddOptions = {}): void {
    if (this.#state === "stopped") return;
    const entry = this.#entries.get(key) ?? this.#newEntry(key);
    const dueMs = this.#options.clock.monotonicMs() + afterMs;
    if (entry.state === "running") {
      const before = entry.again ?? { dueMs, priority };
      entry.again = { dueMs: Math.min(before.dueMs, dueMs), priority: Math.max(before.priority, priority) };
    } else {
      this.#schedule(entry, dueMs, priority);
    }
  }

  /**
   * For the work of `key`, where it waits for another process or key: meanwhile its worker takes another key. The key itself still
   * runs, so that it is not begun twice; when the wait is over it goes on at once, with a worker more than there are.
   */
  async aside<T>(key: string, wait: () => Promise<T>): Promise<T> {
    const { group = "" } = this.#entries.get(key) ?? {};
    this.#aside += 1;
    this.#count(group, -1);
    this.#wake();
    try {
      return await wait();
    } finally {
      this.#aside -= 1;
      this.#count(group, 1);
    }
  }

  /** Starts nothing more, lets what runs finish, and aborts it once the patience is over. */
  async stop(patienceMs = 10_000): Promise<void> {
    this.#state = "stopped";
    for (const entry of this.#entries.values()) entry.timer?.cancel();
    this.#queued.clear();
    const timer = this.#options.clock.setTimer(patienceMs, () => this.#abort.abort(new Error("the queue stops")));
    await this.whenIdle();
    timer.cancel();
  }

  /** Resolves once nothing runs and nothing is ready to run; delayed keys may still wait. */
  whenIdle(): Promise<void> {
    if (this.#running === 0 && this.#queued.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  stats(): QueueStats {
    let delayed = 0;
    for (const entry of this.#entries.values()) if (entry.state === "delayed") delayed += 1;
    return { queued: this.#queued.size, running: this.#running, delayed, runs: this.#runs, failures: this.#failed };
  }

  #newEntry(key: string): Entry {
    const group = this.#options.groupOf?.(key) ?? "";
    const unscheduled = { state: "idle", again: undefined, timer: undefined, dueMs: 0 } as const;
    const entry: Entry = { key, group, failures: 0, priority: 0, ...unscheduled };
    this.#entries.set(key, entry);
    return entry;
  }

  #schedule(entry: Entry, dueMs: number, priority: number): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (entry.state === "queued") {
      if (dueMs <= nowMs && priority > entry.priority) this.#enqueue(entry, priority);
      return;
    }
    const earlierMs = entry.state === "delayed" ? Math.min(entry.dueMs, dueMs) : dueMs;
    const urgency = entry.state === "delayed" ? Math.max(entry.priority, priority) : priority;
    entry.timer?.cancel();
    if (earlierMs <= nowMs) return this.#enqueue(entry, urgency);
    Object.assign(entry, { state: "delayed", dueMs: earlierMs, priority: urgency });
    entry.timer = this.#options.clock.setTimer(earlierMs - nowMs, () => this.#enqueue(entry, entry.priority));
  }

  #enqueue(entry: Entry, priority: number): void {
    if (entry.state === "queued") this.#queued.delete(entry);
    Object.assign(entry, { state: "queued", priority, timer: undefined });
    this.#queued.add(entry);
    this.#wake();
  }

  /** Not at once: what is added in the same turn of the event loop is sorted by priority first. */
  #wake(): void {
    if (this.#waking || this.#state !== "started") return;
    this.#waking = true;
    queueMicrotask(() => {
      this.#waking = false;
      this.#dispatch();
    });
  }

  #dispatch(): void {
    while (this.#state === "started" && this.#running - this.#aside < this.#options.workers) {
      const entry = this.#queued.take((group) => this.#runningOf(group) >= this.#mostPerGroup);
      if (entry === undefined) return;
      entry.state = "running";
      this.#running += 1;
      this.#count(entry.group, 1);
      void this.#run(entry);
    }
  }

  #runningOf(group: string): number {
    return this.#workersOf.get(group) ?? 0;
  }

  #count(group: string, change: 1 | -1): void {
    const running = this.#runningOf(group) + change;
    if (running === 0) this.#workersOf.delete(group);
    else this.#workersOf.set(group, running);
  }

  async #run(entry: Entry): Promise<void> {
    const verdict = await this.#verdictOf(entry);
    this.#running -= 1;
    this.#count(entry.group, -1);
    this.#runs += 1;
    entry.state = "idle";
    if (this.#state === "started") this.#follow(entry, verdict);
    if (this.#running === 0 && this.#queued.size === 0) for (const wake of this.#idleWaiters.splice(0)) wake();
    this.#dispatch();
  }

  async #verdictOf({ key, failures }: Entry): Promise<Verdict> {
    try {
      return await this.#options.work({ key, failures, signal: this.#abort.signal });
    } catch (error) {
      this.#options.onError?.(key, error);
      return { kind: "retry" };
    }
  }

  #follow(entry: Entry, verdict: Verdict): void {
    const { clock, random, backoff = BACKOFF.requeue } = this.#options;
    const nowMs = clock.monotonicMs();
    const { again } = entry;
    entry.again = undefined;
    if (verdict.kind === "retry") {
      this.#failed += 1;
      const afterMs = verdict.afterMs ?? backoffMs(backoff, entry.failures, random);
      entry.failures += 1;
      this.#schedule(entry, nowMs + afterMs, entry.priority);
    } else {
      entry.failures = 0;
      if (verdict.kind === "again") this.#schedule(entry, nowMs + verdict.afterMs, 0);
    }
    if (again !== undefined) this.#schedule(entry, again.dueMs, again.priority);
    if (entry.state === "idle") this.#entries.delete(entry.key);
  }
}
