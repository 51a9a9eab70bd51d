/**
 * The writes that fit one merge (a kind), and each of them as the lanes see it (a ticket). Here is the border between typed
 * and untyped: callers see their own bodies and fragments, the lanes see tickets and `ArmBody`. A kind keeps the fragments
 * of its tickets, so that a batch of tickets finds its way back to the merge without either side knowing the other's types.
 *
 * Bodies become typed here and nowhere else: what Azure answers was checked for its shape when it was read
 * (`arm-client.ts`); which fields the resource at an id has is the promise of the API version.
 */
import type { Span } from "../../core/util/tracer.ts";
import type { Merged } from "../../core/outcome.ts";
import type { ArmBody, Committed, Merge, Write, Retry } from "./commit-types.ts";
import { type Priority, RANK } from "../budget/limits.ts";
import type { ArmFailure } from "../arm/failures.ts";

/** `Whole`: what a write of a part answers with, where `Body` is the part's; the same for everything else. */
export class WriteKind<Body extends ArmBody, Fragment, Whole extends ArmBody = Body> implements AnyKind {
  /** In reports of attempts. */
  readonly name: string;
  readonly #merge: Merge<Body, Fragment>;
  readonly #fragments = new WeakMap<Ticket, { readonly fragment: Fragment }>();

  constructor(name: string, merge: Merge<Body, Fragment>) {
    this.name = name;
    this.#merge = merge;
  }

  /** The write as a lane sees it, and what comes of it. */
  open(write: Write<Body, Fragment, Whole>, sinceMs: number): [Ticket, Promise<Committed<Whole>>] {
    const ticket = new Ticket(write, sinceMs);
    this.#fragments.set(ticket, write);
    const { promise, resolve, reject } = Promise.withResolvers<Committed<Whole>>();
    const { onRetry, signal, span } = write;
    ticket.await({ settle: (outcome) => resolve(outcome as Committed<Whole>), crash: reject, onRetry, signal, span });
    return [ticket, promise];
  }

  /** Tickets of this kind, merged into what is there; one answer for each. */
  merge(seen: ArmBody | undefined, tickets: readonly Ticket[]): Merged<ArmBody> {
    const fragments = tickets.flatMap((ticket) => this.#fragments.get(ticket) ?? []).map(({ fragment }) => fragment);
    const merged = this.#merge(seen as Body | undefined, fragments);
    if (merged.answers.length === tickets.length) return merged;
    throw new Error(`${this.name}: ${merged.answers.length} answers for ${tickets.length} fragments`);
  }
}

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
  readonly namespace?: string | undefined;
  readonly readFirst?: boolean;
}

interface Waiter {
  settle(outcome: Committed<ArmBody>): void;
  crash(reason: unknown): void;
  readonly onRetry: ((retry: Retry) => void) | undefined;
  /** Aborted: this caller wants it no more. */
  readonly signal: AbortSignal | undefined;
  readonly span: Span | undefined;
}

/** A write that waits for its commit, and the callers that wait for it: what the lanes know of a write. */
export class Ticket {
  readonly id: string;
  readonly kind: AnyKind;
  readonly dedupKey: string | undefined;
  /** Looked into for names only, to guess at a culprit. */
  readonly fragment: unknown;
  /** Of the object that asks for it. */
  readonly namespace: string | undefined;
  /** Attempts that failed for other reasons than a conflict. */
  failures = 0;
  conflicts = 0;
  /** How often it has stepped back for a drain before it left. */
  deferrals = 0;
  /** It is not attempted before. */
  retryAtMs = 0;
  priority: Priority;
  /** Whether the resource must be read before it is merged into. */
  readFirst: boolean;
  /** Since when a caller waits for it. */
  sinceMs: number;
  readonly #waiters: Waiter[] = [];

  constructor({ id, kind, dedupKey, fragment, priority, namespace, readFirst = false }: AnyWrite, sinceMs: number) {
    this.id = id;
    this.kind = kind;
    this.dedupKey = dedupKey;
    this.fragment = fragment;
    this.namespace = namespace;
    this.sinceMs = sinceMs;
    this.priority = priority;
    this.readFirst = readFirst;
  }

  /** Every caller has withdrawn it. */
  get isWithdrawn(): boolean {
    return this.#waiters.length > 0 && this.#waiters.every(({ signal }) => signal?.aborted === true);
  }

  /** Of its callers. */
  get spans(): readonly Span[] {
    return this.#waiters.flatMap(({ span }) => span ?? []);
  }

  await(waiter: Waiter): void {
    this.#waiters.push(waiter);
  }

  /** Takes the place of an older write: its waiters get this one's outcome, on the older one's terms where stricter. */
  replace(older: Ticket): void {
    this.#waiters.push(...older.#waiters.splice(0));
    const [rank, olderRank] = [RANK[this.priority], RANK[older.priority]];
    if (olderRank <= rank) this.retryAtMs = Math.max(this.retryAtMs, older.retryAtMs);
    if (olderRank < rank) this.priority = older.priority;
    this.readFirst ||= older.readFirst;
    this.sinceMs = Math.min(this.sinceMs, older.sinceMs);
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
