/**
 * How many calls the controller makes to a subscription, and which call is next. Azure refills a bucket of tokens per kind
 * of call; the network provider counts calls in five minutes besides. The budget spends no more than that, so that a burst
 * of work is spread instead of refused, and keeps the last tokens for urgent calls (`limits.ts`).
 *
 * A call that many Services wait for leaves only half of that to others: a Service that has its public IP is not kept from
 * its load balancer by Services that have none yet. Among calls of equal urgency namespaces take turns, one call each
 * (`core/util/turns.ts`): many calls of one namespace delay a call of another by one turn at most.
 *
 * The buckets are estimates, which the remaining-quota headers of each answer correct both ways. Calls and answers overtake
 * each other on their way, so an answer bounds the estimate: at most what it grants less the calls without an answer; at
 * least that less all calls that it may not know of, which are those that were let in after the one that it answers, and
 * earlier ones without an answer.
 *
 * A budget that is a share of what Azure grants takes the same share of what the headers say, and only downwards: what others
 * leave unused is not its own.
 *
 * A 429 closes the gate for the calls that it is about until its `Retry-After`, since Azure renews the wait of a caller that
 * asks earlier: one of the subscription for all calls of its kind, one of a provider for those to the same resource type.
 * The wait is capped (`DELAY.mostRetryAfterMs`): no answer may stop the controller for an hour. Drains are the exception:
 * a node that is going away has no such time, so one is let in every `DELAY.drainAtClosedGateMs`, within the tokens.
 */
import { DELAY } from "../../core/retry.ts";
import type { CancelSignal, Clock, Timer } from "../../core/util/clock.ts";
import { Turns } from "../../core/util/turns.ts";
import { AZURE_LIMITS, type BudgetLimits, type CallKind, type Priority, RANK, RESERVED } from "./limits.ts";

const WINDOW_MS = 300_000;
const SLICES = 60;

export interface CallOptions {
  readonly signal?: CancelSignal | undefined;
  /** Before others of the same priority, because many wait for this one call. */
  readonly isAhead?: boolean;
  /** Of the objects that the call is for; absent: of several namespaces, or of none. */
  readonly namespace?: string | undefined;
  /** As in `Microsoft.Network/loadBalancers`. */
  readonly type?: string;
  /** Azure has told to wait: called with the time that is left, once for each 429 that it waits for. */
  readonly onHeld?: ((waitMs: number) => void) | undefined;
}

interface Waiter extends CallOptions {
  readonly kind: CallKind;
  readonly priority: Priority;
  readonly go: (entry: Entry) => void;
  /** Until when it was told to wait, where it was. */
  heldUntilMs: number | undefined;
}

/** What a 429 has closed. */
interface Closing {
  readonly untilMs: number;
  /** When a drain was last let in all the same. */
  drainAtMs: number | undefined;
}

/** The call's sequence number within its kind. */
export type Entry = number;

interface Gate {
  tokens: number;
  size: number;
  readonly perSecond: number;
  filledAtMs: number;
  /** By resource type in lower case; empty: of all. */
  readonly closings: Map<string, Closing>;
  /** Calls that were ever let in. */
  entries: number;
  /** Those that Azure may not have counted yet. */
  readonly underway: Set<Entry>;
}

export interface ShownGate {
  readonly tokens: number;
  readonly size: number;
  readonly waiting: number;
  /** 0: open. */
  readonly closedForMs: number;
}

export class Budget {
  readonly #clock: Clock;
  readonly #share: number | undefined;
  readonly #gates: Readonly<Record<CallKind, Gate>>;
  readonly #windows: Readonly<Record<"reads" | "changes", SlidingWindow>>;
  readonly #waiting: Readonly<Record<CallKind, Waiter[]>> = { reads: [], writes: [], deletes: [] };
  readonly #timers: Partial<Record<CallKind, Timer>> = {};
  readonly #turns: Readonly<Record<CallKind, Turns>> = {
    reads: new Turns(),
    writes: new Turns(),
    deletes: new Turns(),
  };

  constructor(clock: Clock, limits: BudgetLimits = AZURE_LIMITS) {
    this.#clock = clock;
    this.#share = limits.share;
    const gate = ({ size, perSecond }: { size: number; perSecond: number }): Gate => {
      return {
        tokens: size,
        size,
        perSecond,
        filledAtMs: clock.monotonicMs(),
        closings: new Map(),
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
  enter(kind: CallKind, priority: Priority, options: CallOptions = {}): Promise<Entry> {
    const { signal } = options;
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
      const waiter: Waiter = { ...options, kind, priority, go, heldUntilMs: undefined };
      signal?.addEventListener("abort", giveUp);
      this.#enqueue(waiter);
      this.#admit(kind);
    });
  }

  /** An answer came, or none ever will. `remaining`: what its headers grant, where they say. */
  answered(kind: CallKind, entry: Entry, remaining?: number): void {
    const gate = this.#gates[kind];
    gate.underway.delete(entry);
    if (remaining !== undefined && this.#share !== undefined) {
      this.#refill(gate);
      gate.tokens = Math.min(gate.tokens, remaining * this.#share);
    } else if (remaining !== undefined) {
      const earlier = [...gate.underway].filter((other) => other < entry).length;
      const least = remaining - earlier - (gate.entries - entry);
      this.#refill(gate);
      gate.tokens = Math.min(remaining - gate.underway.size, Math.max(least, gate.tokens));
      gate.size = Math.max(gate.size, remaining);
    }
    this.#admit(kind);
  }

  /** The call got a 429. `type`: for which it was; absent: for all calls of the kind. */
  throttled(kind: CallKind, entry: Entry, retryAfterMs: number = DELAY.gateClosedMs, type = ""): void {
    const gate = this.#gates[kind];
    const nowMs = this.#clock.monotonicMs();
    gate.underway.delete(entry);
    if (type === "") {
      gate.tokens = 0;
      gate.filledAtMs = nowMs;
    }
    const before = gate.closings.get(type.toLowerCase());
    const untilMs = Math.max(before?.untilMs ?? 0, nowMs + Math.min(retryAfterMs, DELAY.mostRetryAfterMs));
    gate.closings.set(type.toLowerCase(), { untilMs, drainAtMs: before?.drainAtMs });
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

  /** For people: what is left of the bucket, who waits for it, and until when Azure has closed it. */
  shown(kind: CallKind): ShownGate {
    const { size, closings } = this.#gates[kind];
    const nowMs = this.#clock.monotonicMs();
    const left = [...closings.values()].map(({ untilMs }) => untilMs - nowMs);
    return { tokens: this.tokens(kind), size, waiting: this.waiting(kind), closedForMs: Math.max(0, ...left) };
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

  /**
   * Lets calls in, most urgent first. One that waits for tokens holds up those behind it; one at a closed gate does not. Each
   * look has one time: a gate that opened between two readings of the clock would be neither open nor waited for.
   */
  #admit(kind: CallKind): void {
    this.#timers[kind]?.cancel();
    delete this.#timers[kind];
    const queue = this.#waiting[kind];
    while (queue.length > 0) {
      const nowMs = this.#clock.monotonicMs();
      const next = this.#next(kind, nowMs);
      const tokenMs = next === undefined ? Infinity : this.#waitMs(next, nowMs);
      if (next === undefined || tokenMs > 0) {
        const closedMs = queue.map((waiter) => this.#closedMs(waiter, nowMs)).filter((ms) => ms > 0);
        this.#timers[kind] = this.#clock.setTimer(Math.min(tokenMs, ...closedMs), () => this.#admit(kind));
        for (const waiter of queue) this.#tellHeld(waiter, nowMs);
        return;
      }
      queue.splice(queue.indexOf(next), 1);
      this.#turns[kind].took([next.namespace]);
      next.go(this.#spend(next, nowMs));
    }
    this.#turns[kind].forget(); // turns matter only while calls wait
  }

  /** Of the most urgent calls whose gate is open, the one of the namespace whose turn it is. */
  #next(kind: CallKind, nowMs: number): Waiter | undefined {
    const open = this.#waiting[kind].filter((waiter) => this.#closedMs(waiter, nowMs) === 0);
    const [first] = open;
    if (first === undefined) return undefined;
    const equals = open.filter((waiter) => placeOf(waiter) === placeOf(first));
    return this.#turns[kind].next(equals, ({ namespace }) => namespace);
  }

  #tellHeld(waiter: Waiter, nowMs: number): void {
    const untilMs = Math.max(0, ...this.#closingsOf(waiter, nowMs).map((closing) => closing.untilMs));
    if (untilMs === 0 || untilMs === waiter.heldUntilMs) return;
    waiter.heldUntilMs = untilMs;
    waiter.onHeld?.(untilMs - nowMs);
  }

  /** Those that are still to be waited for. */
  #closingsOf({ kind, type = "" }: Waiter, nowMs: number): Closing[] {
    const { closings } = this.#gates[kind];
    if (closings.size === 0) return [];
    const scopes = [...new Set(["", type.toLowerCase()])];
    return scopes.flatMap((scope) => closings.get(scope) ?? []).filter(({ untilMs }) => untilMs > nowMs);
  }

  /** How long its gate is closed for it; 0 when it is open. */
  #closedMs(waiter: Waiter, nowMs: number): number {
    const leftMs = ({ untilMs, drainAtMs }: Closing): number => {
      if (waiter.priority !== "drain") return untilMs - nowMs;
      return Math.min(untilMs, drainAtMs === undefined ? nowMs : drainAtMs + DELAY.drainAtClosedGateMs) - nowMs;
    };
    return Math.max(0, ...this.#closingsOf(waiter, nowMs).map(leftMs));
  }

  #spend(waiter: Waiter, nowMs: number): Entry {
    const { kind } = waiter;
    const gate = this.#gates[kind];
    for (const closing of this.#closingsOf(waiter, nowMs)) closing.drainAtMs = nowMs;
    gate.tokens -= 1;
    gate.entries += 1;
    gate.underway.add(gate.entries);
    this.#windowOf(kind).add(nowMs);
    return gate.entries;
  }

  /** For tokens and the window; 0 when there is enough. */
  #waitMs({ kind, priority, isAhead }: Waiter, nowMs: number): number {
    const gate = this.#gates[kind];
    this.#refill(gate);
    const reserved = isAhead ? RESERVED[priority] / 2 : RESERVED[priority];
    const missing = 1 + reserved * gate.size - gate.tokens;
    const tokenMs = missing > 0 ? Math.ceil((missing / gate.perSecond) * 1000) : 0;
    return Math.max(tokenMs, this.#windowOf(kind).waitMs(nowMs, reserved), 0);
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

function placeOf({ priority, isAhead }: Waiter): number {
  return RANK[priority] - (isAhead ? 0.5 : 0);
}

/** Counts calls of the last while, in slices: exact to a sixtieth of the window, on the safe side. */
class SlidingWindow {
  readonly #limit: number;
  readonly #sliceMs: number;
  /** Oldest first. */
  readonly #slices: { readonly startMs: number; count: number }[] = [];
  #total = 0;

  constructor(limit: number, lengthMs: number) {
    this.#limit = limit;
    this.#sliceMs = lengthMs / SLICES;
  }

  add(nowMs: number): void {
    const startMs = Math.floor(nowMs / this.#sliceMs) * this.#sliceMs;
    const last = this.#slices.at(-1);
    if (last?.startMs === startMs) last.count += 1;
    else this.#slices.push({ startMs, count: 1 });
    this.#total += 1;
  }

  /** How long until one more fits while that share of the limit stays free; 0 when it fits now. */
  waitMs(nowMs: number, reserved: number): number {
    this.#forget(nowMs);
    let excess = this.#total + 1 - Math.floor(this.#limit * (1 - reserved));
    if (excess <= 0) return 0;
    for (const slice of this.#slices) {
      excess -= slice.count;
      if (excess <= 0) return this.#endMs(slice.startMs) - nowMs;
    }
    return this.#sliceMs;
  }

  #forget(nowMs: number): void {
    for (let oldest = this.#slices[0]; oldest && this.#endMs(oldest.startMs) <= nowMs; oldest = this.#slices[0]) {
      this.#slices.shift();
      this.#total -= oldest.count;
    }
  }

  /** When a slice is wholly out of the window. */
  #endMs(startMs: number): number {
    return startMs + this.#sliceMs * (SLICES + 1);
  }
}
