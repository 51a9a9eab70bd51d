/** A write that waits for its commit, and those who wait for it. */
import type { Priority } from "../budget/budget.ts";
import type { ArmBody, Committed, Write } from "./commit-types.ts";

type AnyWrite = Write<ArmBody, unknown>;
type Waiter = PromiseWithResolvers<Committed<ArmBody>>;

const ORDER: readonly Priority[] = ["drain", "delete", "create", "resync"];

export class Ticket {
  readonly write: AnyWrite;
  /** Attempts that failed for other reasons than a conflict. */
  failures = 0;
  conflicts = 0;
  #priority: Priority;
  #sinceMs: number;
  readonly #waiters: Waiter[] = [];

  constructor(write: AnyWrite, sinceMs: number) {
    this.write = write;
    this.#sinceMs = sinceMs;
    this.#priority = write.priority;
  }

  /** Writes of one key may leave together. */
  get key(): string {
    return `${this.write.kind} ${this.write.id.toLowerCase()}`;
  }

  get owner(): string {
    return this.write.owner;
  }

  get priority(): Priority {
    return this.#priority;
  }

  /** Since when somebody waits for it. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  get rank(): number {
    return ORDER.indexOf(this.#priority);
  }

  outcome(): Promise<Committed<ArmBody>> {
    const waiter = Promise.withResolvers<Committed<ArmBody>>();
    this.#waiters.push(waiter);
    return waiter.promise;
  }

  /** Takes the place of an older write of the same owner: its waiters get this one's outcome. */
  replace(older: Ticket): void {
    this.#waiters.push(...older.#waiters.splice(0));
    if (older.rank < this.rank) this.#priority = older.#priority;
    this.#sinceMs = Math.min(this.#sinceMs, older.#sinceMs);
  }

  settle(outcome: Committed<ArmBody>): void {
    for (const waiter of this.#waiters.splice(0)) waiter.resolve(outcome);
  }

  /** For bugs only: a merge that throws. */
  crash(reason: unknown): void {
    for (const waiter of this.#waiters.splice(0)) waiter.reject(reason);
  }
}

export function mostUrgent(tickets: readonly Ticket[]): Priority {
  return ORDER[Math.min(...tickets.map((ticket) => ticket.rank))] ?? "resync";
}
