/** A write that waits for its commit, and the callers that wait for it: what the lanes know of a write. */
import type { Merged } from "../../core/outcome.ts";
import { mostUrgentOf, type Priority, rankOf } from "../budget/budget.ts";
import type { ArmFailure } from "../arm/failures.ts";
import type { ArmBody, Committed, Retry } from "./commit-types.ts";

/** A `WriteKind` without its types. */
export interface AnyKind {
  readonly name: string;
  /** `tickets` are all of this kind, for one id. */
  merge(seen: ArmBody | undefined, tickets: readonly Ticket[]): Merged<ArmBody>;
}

/** A `Write` without its types. */
interface AnyWrite {
  readonly id: string;
  readonly kind: AnyKind;
  readonly fragment: unknown;
  readonly dedupKey?: string;
  readonly priority: Priority;
  readonly readFirst?: boolean;
}

interface Waiter {
  settle(outcome: Committed<ArmBody>): void;
  crash(reason: unknown): void;
  readonly onRetry: ((retry: Retry) => void) | undefined;
  /** Aborted: this caller wants it no more. */
  readonly signal: AbortSignal | undefined;
}

export class Ticket {
  readonly id: string;
  readonly kind: AnyKind;
  readonly dedupKey: string | undefined;
  /** Looked into for names only, to guess at a culprit. */
  readonly fragment: unknown;
  /** Attempts that failed for other reasons than a conflict. */
  failures = 0;
  conflicts = 0;
  /** How often it has stepped back for a drain before it left. */
  deferrals = 0;
  /** It is not attempted before. */
  retryAtMs = 0;
  #priority: Priority;
  #readFirst: boolean;
  #sinceMs: number;
  readonly #waiters: Waiter[] = [];

  constructor({ id, kind, dedupKey, fragment, priority, readFirst = false }: AnyWrite, sinceMs: number) {
    this.id = id;
    this.kind = kind;
    this.dedupKey = dedupKey;
    this.fragment = fragment;
    this.#sinceMs = sinceMs;
    this.#priority = priority;
    this.#readFirst = readFirst;
  }

  get priority(): Priority {
    return this.#priority;
  }

  /** Whether the resource must be read before it is merged into. */
  get readFirst(): boolean {
    return this.#readFirst;
  }

  /** Since when a caller waits for it. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  get rank(): number {
    return rankOf(this.#priority);
  }

  /** Every caller has withdrawn it. */
  get isWithdrawn(): boolean {
    return this.#waiters.length > 0 && this.#waiters.every(({ signal }) => signal?.aborted === true);
  }

  await(waiter: Waiter): void {
    this.#waiters.push(waiter);
  }

  /** Takes the place of an older write: its waiters get this one's outcome, on the older one's terms where stricter. */
  replace(older: Ticket): void {
    this.#waiters.push(...older.#waiters.splice(0));
    if (older.rank <= this.rank) this.retryAtMs = Math.max(this.retryAtMs, older.retryAtMs);
    if (older.rank < this.rank) this.#priority = older.#priority;
    this.#readFirst ||= older.#readFirst;
    this.#sinceMs = Math.min(this.#sinceMs, older.#sinceMs);
    this.deferrals = Math.max(this.deferrals, older.deferrals);
  }

  /** An attempt failed; the next one is at `retryAtMs`. */
  retryLater(retry: Omit<Retry, "attempts">, retryAtMs: number): void {
    this.retryAtMs = retryAtMs;
    const attempts = this.failures + this.conflicts;
    for (const { onRetry } of this.#waiters) onRetry?.({ ...retry, attempts });
  }

  /** Azure's throttling of others holds it back. */
  held(failure: ArmFailure, afterMs: number): void {
    const attempts = this.failures + this.conflicts + 1;
    for (const { onRetry } of this.#waiters) onRetry?.({ failure, attempts, afterMs });
  }

  settle(outcome: Committed<ArmBody>): void {
    for (const waiter of this.#waiters.splice(0)) waiter.settle(outcome);
  }

  /** For bugs only: a merge that throws. */
  crash(reason: unknown): void {
    for (const waiter of this.#waiters.splice(0)) waiter.crash(reason);
  }
}

export function mostUrgent(tickets: readonly Ticket[]): Priority {
  return mostUrgentOf(tickets.map(({ priority }) => priority));
}
