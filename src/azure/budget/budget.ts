/**
 * How many calls the controller makes to a subscription, and which call is next. Azure refills a bucket of tokens per kind
 * of call; the network provider counts calls in five minutes besides. The budget spends no more than that, so that a burst
 * of work is spread instead of refused, and keeps the last tokens for urgent calls:
 *
 *   priority | may spend all but | for
 *   ---------|-------------------|-----------------------------------------------
 *   drain    | nothing           | a node that is going away
 *   delete   | 2.5 %             | what must not stay open or be paid for longer
 *   create   | 5 %               | what a user waits for
 *   resync   | 20 %              | what can wait
 *
 * A call that many Services wait for leaves only half of that to others: a Service that has its public IP is not kept from
 * its load balancer by Services that have none yet.
 *
 * The buckets are estimates, which the remaining-quota headers of each answer correct both ways. Calls and answers overtake
 * each other on their way, so an answer bounds the estimate: at most what it grants less the calls without an answer; at
 * least that less all calls that it may not know of, which are those that were let in after the one that it answers, and
 * earlier ones without an answer. A 429 closes the gate for its kind until `Retry-After`, for all callers, since Azure
 * renews the wait at every earlier call.
 */
import { DELAY } from "../../core/retry.ts";
import type { CancelSignal, Clock, Timer } from "../../core/util/clock.ts";
import { SlidingWindow } from "./sliding-window.ts";

export type CallKind = "reads" | "writes" | "deletes";
export type Priority = "drain" | "delete" | "create" | "resync";

/** Most urgent first. */
const PRIORITIES: readonly Priority[] = ["drain", "delete", "create", "resync"];
const RESERVED: Readonly<Record<Priority, number>> = { drain: 0, delete: 0.025, create: 0.05, resync: 0.2 };

export interface BudgetLimits {
  /** Tokens and their refill, per kind. */
  readonly buckets: Readonly<Record<CallKind, { readonly size: number; readonly perSecond: number }>>;
  /** Calls in any five minutes; `changes` are writes and deletes together. */
  readonly window: { readonly reads: number; readonly changes: number };
}

/** What Azure grants a principal in an ordinary subscription. */
export const AZURE_LIMITS: BudgetLimits = {
  buckets: {
    reads: { size: 250, perSecond: 25 },
    writes: { size: 200, perSecond: 10 },
    deletes: { size: 200, perSecond: 10 },
  },
  window: { reads: 10_000, changes: 1_000 },
};

const WINDOW_MS = 300_000;

interface Waiter {
  readonly kind: CallKind;
  readonly priority: Priority;
  readonly isAhead: boolean;
  readonly go: (entry: Entry) => void;
}

/** The call's sequence number within its kind. */
export type Entry = number;

interface Gate {
  tokens: number;
  size: number;
  readonly perSecond: number;
  filledAtMs: number;
  closedUntilMs: number;
  /** Calls that were ever let in. */
  entries: number;
  /** Those that Azure may not have counted yet. */
  readonly underway: Set<Entry>;
}

export class Budget {
  readonly #clock: Clock;
  readonly #gates: Readonly<Record<CallKind, Gate>>;
  readonly #windows: Readonly<Record<"reads" | "changes", SlidingWindow>>;
  readonly #waiting: Readonly<Record<CallKind, Waiter[]>> = { reads: [], writes: [], deletes: [] };
  readonly #timers: Partial<Record<CallKind, Timer>> = {};

  constructor(clock: Clock, limits: BudgetLimits = AZURE_LIMITS) {
    this.#clock = clock;
    const gate = ({ size, perSecond }: { size: number; perSecond: number }): Gate => {
      return {
        tokens: size,
        size,
        perSecond,
        filledAtMs: clock.monotonicMs(),
        closedUntilMs: 0,
        entries: 0,
        underway: new Set(),
      };
    };
    const { reads, writes, deletes } = limits.buckets;
    this.#gates = { reads: gate(reads), writes: gate(writes), deletes: gate(deletes) };
    this.#windows = {
      reads: new SlidingWindow(limits.window.reads, WINDOW_MS),
      changes: new SlidingWindow(limits.window.changes, WINDOW_MS),
    };
  }

  /**
   * Waits for the caller's turn. The caller must then call `answered` or `throttled`, exactly once.
   * `isAhead`: before others of the same priority, because many wait for this one call.
   */
  enter(kind: CallKind, priority: Priority, signal?: CancelSignal, isAhead = false): Promise<Entry> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const giveUp = (): void => {
        const at = this.#waiting[kind].indexOf(waiter);
        if (at !== -1) this.#waiting[kind].splice(at, 1);
        this.#admit(kind); // another one is first now, or none: no timer may outlive the last
        reject(signal?.reason);
      };
      const go = (entry: Entry): void => {
        signal?.removeEventListener("abort", giveUp);
        resolve(entry);
      };
      const waiter = { kind, priority, isAhead, go };
      signal?.addEventListener("abort", giveUp);
      this.#enqueue(waiter);
      this.#admit(kind);
    });
  }

  /** An answer came, or none ever will. `remaining`: what its headers grant, where they say. */
  answered(kind: CallKind, entry: Entry, remaining?: number): void {
    const gate = this.#gates[kind];
    gate.underway.delete(entry);
    if (remaining !== undefined) {
      const earlier = [...gate.underway].filter((other) => other < entry).length;
      const least = remaining - earlier - (gate.entries - entry);
      this.#refill(gate);
      gate.tokens = Math.min(remaining - gate.underway.size, Math.max(least, gate.tokens));
      gate.size = Math.max(gate.size, remaining);
    }
    this.#admit(kind);
  }

  throttled(kind: CallKind, entry: Entry, retryAfterMs: number = DELAY.gateClosedMs): void {
    const gate = this.#gates[kind];
    gate.underway.delete(entry);
    gate.tokens = 0;
    gate.filledAtMs = this.#clock.monotonicMs();
    gate.closedUntilMs = Math.max(gate.closedUntilMs, this.#clock.monotonicMs() + retryAfterMs);
    this.#admit(kind);
  }

  /** How many callers wait for their turn. */
  waiting(kind: CallKind): number {
    return this.#waiting[kind].length;
  }

  /** What is left to spend, as estimated. */
  tokens(kind: CallKind): number {
    this.#refill(this.#gates[kind]);
    return Math.max(0, Math.floor(this.#gates[kind].tokens));
  }

  /** The share of the bucket that is left, 0 while others wait for it. */
  plenty(kind: CallKind): number {
    return this.waiting(kind) > 0 ? 0 : this.tokens(kind) / this.#gates[kind].size;
  }

  #enqueue(waiter: Waiter): void {
    const queue = this.#waiting[waiter.kind];
    const at = queue.findIndex((other) => placeOf(other) > placeOf(waiter));
    queue.splice(at === -1 ? queue.length : at, 0, waiter);
  }

  /** Lets calls in, most urgent first; a call behind one that must wait waits too. */
  #admit(kind: CallKind): void {
    this.#timers[kind]?.cancel();
    delete this.#timers[kind];
    const queue = this.#waiting[kind];
    for (let next = queue[0]; next !== undefined; next = queue[0]) {
      const waitMs = this.#waitMs(next);
      if (waitMs > 0) {
        this.#timers[kind] = this.#clock.setTimer(waitMs, () => this.#admit(kind));
        return;
      }
      queue.shift();
      next.go(this.#spend(kind));
    }
  }

  #spend(kind: CallKind): Entry {
    const gate = this.#gates[kind];
    gate.tokens -= 1;
    gate.entries += 1;
    gate.underway.add(gate.entries);
    this.#windowOf(kind).add(this.#clock.monotonicMs());
    return gate.entries;
  }

  /** 0 when it may go now. */
  #waitMs({ kind, priority, isAhead }: Waiter): number {
    const gate = this.#gates[kind];
    const nowMs = this.#clock.monotonicMs();
    this.#refill(gate);
    const reserved = isAhead ? RESERVED[priority] / 2 : RESERVED[priority];
    const missing = 1 + reserved * gate.size - gate.tokens;
    const tokenMs = missing > 0 ? Math.ceil((missing / gate.perSecond) * 1000) : 0;
    return Math.max(tokenMs, gate.closedUntilMs - nowMs, this.#windowOf(kind).waitMs(nowMs, reserved), 0);
  }

  #windowOf(kind: CallKind): SlidingWindow {
    return kind === "reads" ? this.#windows.reads : this.#windows.changes;
  }

  /** A bucket that is full gets no fuller while calls are on their way to it. */
  #refill(gate: Gate): void {
    const nowMs = this.#clock.monotonicMs();
    const refilled = gate.tokens + ((nowMs - gate.filledAtMs) / 1000) * gate.perSecond;
    gate.tokens = Math.min(gate.size - gate.underway.size, refilled);
    gate.filledAtMs = nowMs;
  }
}

/** Lower is more urgent. */
export function rankOf(priority: Priority): number {
  return PRIORITIES.indexOf(priority);
}

export function mostUrgentOf(priorities: readonly Priority[]): Priority {
  return PRIORITIES.find((priority) => priorities.includes(priority)) ?? "resync";
}

function placeOf({ priority, isAhead }: Waiter): number {
  return rankOf(priority) - (isAhead ? 0.5 : 0);
}
