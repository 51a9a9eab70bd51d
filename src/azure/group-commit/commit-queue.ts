/**
 * The writes that wait for one resource and its parts, and which of them go next: all of one kind for one id go
 * together, those with the most urgent write first; of equal ones those of the namespace whose turn it is, then those whose
 * oldest write waited longest. A write that has waited too long is as urgent as a drain: a stream of drains must not keep
 * Services waiting for ever. Batches that were set apart to find a culprit stay apart, and go before what came later for the
 * same namespace. A batch that failed is not due before its retry, and keeps neither another batch nor the writes of another
 * namespace waiting.
 */
import type { Clock } from "../../core/util/clock.ts";
import { Turns } from "../../core/util/turns.ts";
import { isPart } from "../../core/model/ids.ts";
import { type Priority, RANK } from "../budget/limits.ts";
import type { AnyKind, Ticket } from "./write-kind.ts";

/** Writes of one kind to one id that may leave together. */
interface Candidate {
  readonly id: string;
  readonly tickets: readonly Ticket[];
  readonly isApart: boolean;
}

/** Those that were taken from the queue, and how they leave. */
export interface Batch extends Candidate {
  /** Of the most urgent of them. */
  readonly priority: Priority;
  /** That all of them are of, where there is one. */
  readonly namespace: string | undefined;
  /** While it has not left: may it step back for a drain that comes meanwhile? */
  readonly mayStepBack: boolean;
}

const PATIENCE_MS = 60_000;
/** How often a drain that has not left steps back for newer ones, or takes them in: no stream of taints holds it back. */
const MOST_DEFERRALS = 2;

/** Writes of one kind to one id, by their dedup keys. */
type Waiting = Map<string | undefined, Ticket>;

export class CommitQueue {
  readonly #clock: Clock;
  /** By id in lower case, then by kind; none is empty. */
  readonly #waiting = new Map<string, Map<AnyKind, Waiting>>();
  #apart: Ticket[][] = [];
  readonly #turns = new Turns();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Is a drain due? */
  get isUrgent(): boolean {
    return this.#due().some(({ tickets }) => tickets.some(({ priority }) => priority === "drain"));
  }

  /** May all that is due wait for others? */
  get isPatient(): boolean {
    return this.#due().every(({ tickets }) => tickets.every((ticket) => this.#rankOf(ticket) >= RANK.create));
  }

  /** How many writes wait. */
  get size(): number {
    return this.#candidates().reduce((sum, { tickets }) => sum + tickets.length, 0);
  }

  /** Until the first batch is due; `undefined` where nothing waits. */
  get waitMs(): number | undefined {
    const candidates = this.#candidates();
    if (candidates.length === 0) return undefined;
    return Math.max(0, Math.min(...candidates.map(dueMsOf)) - this.#clock.monotonicMs());
  }

  /** A new write: takes the place of the one with the same key that still waits. */
  add(ticket: Ticket): void {
    for (const group of this.#apart) {
      const at = group.findIndex((other) => isReplacement(ticket, other));
      const older = group[at];
      if (older === undefined) continue;
      ticket.replace(older);
      group[at] = ticket;
      return;
    }
    const waiting = this.#waitingFor(ticket);
    const older = waiting.get(ticket.dedupKey);
    if (older !== undefined) ticket.replace(older);
    waiting.set(ticket.dedupKey, ticket);
  }

  /** Writes that must be tried again: a newer one with the same key, come meanwhile, takes their place. */
  putBack(tickets: readonly Ticket[]): void {
    for (const ticket of tickets) {
      if (!this.#giveWay(ticket)) this.#waitingFor(ticket).set(ticket.dedupKey, ticket);
    }
  }

  /** Each group goes by itself, in this order; writes that a newer one replaces go with that one. */
  setApart(groups: readonly (readonly Ticket[])[]): void {
    const left = groups.map((group) => group.filter((ticket) => !this.#giveWay(ticket)));
    this.#apart = [...left.filter(isFilled), ...this.#apart];
  }

  /** Removes and returns what goes next. `undefined`: nothing is due. */
  take(): Batch | undefined {
    return this.#remove(this.#next());
  }

  /** Removes and returns everything that waits, due or not. */
  takeAll(): Ticket[] {
    return this.#takeWhere(() => true);
  }

  /** Removes and returns what its callers have withdrawn. */
  takeWithdrawn(): Ticket[] {
    return this.#takeWhere(({ isWithdrawn }) => isWithdrawn);
  }

  /** The same, where that is a drain of a part. */
  takeDrainOfPart(): Batch | undefined {
    const next = this.#next();
    const isDrain = next?.tickets.every(({ priority }) => priority === "drain");
    return isDrain && isPart(next?.id ?? "") ? this.#remove(next) : undefined;
  }

  /** A batch that may step back does: what is set apart stays apart. */
  stepBack({ tickets, isApart }: Candidate): void {
    for (const ticket of tickets) ticket.deferrals += 1;
    if (isApart) this.setApart([tickets]);
    else this.putBack(tickets);
  }

  /** One that steps back, with what has come for it meanwhile. */
  joined({ id, tickets, isApart }: Candidate): Batch {
    this.stepBack({ id, tickets, isApart });
    const [first] = tickets;
    const all = [...((first && this.#waitingWith(first)?.values()) ?? [])];
    if (first !== undefined) this.#forget(first);
    return this.#batchOf({ id, tickets: all, isApart: false });
  }

  /** Has more come for it? */
  hasMoreFor({ tickets }: Candidate): boolean {
    const [first] = tickets;
    return first !== undefined && this.#waitingWith(first) !== undefined;
  }

  #next(): Candidate | undefined {
    return this.#due().sort((one, other) => this.#compare(one, other))[0];
  }

  #remove(next: Candidate | undefined): Batch | undefined {
    if (next === undefined) return undefined;
    if (next.isApart) this.#apart = this.#apart.filter((group) => group !== next.tickets);
    else this.#takeOut(next.tickets);
    this.#turns.took(next.tickets.map(({ namespace }) => namespace));
    return this.#batchOf(next);
  }

  #batchOf(taken: Candidate): Batch {
    const { tickets } = taken;
    const priority = mostUrgent(tickets);
    const mayStepBack =
      priority === "drain"
        ? tickets.every(({ deferrals }) => deferrals < MOST_DEFERRALS)
        : tickets.every((ticket) => this.#rankOf(ticket) > 0);
    return { ...taken, priority, namespace: namespaceOf(tickets), mayStepBack };
  }

  #takeWhere(isTaken: (ticket: Ticket) => boolean): Ticket[] {
    const taken = this.#candidates()
      .flatMap(({ tickets }) => tickets)
      .filter(isTaken);
    const gone = new Set(taken);
    this.#apart = this.#apart.map((group) => group.filter((ticket) => !gone.has(ticket))).filter(isFilled);
    this.#takeOut(taken);
    return taken;
  }

  /** Those of them that are not set apart. */
  #takeOut(tickets: readonly Ticket[]): void {
    for (const ticket of tickets) {
      const waiting = this.#waitingWith(ticket);
      if (waiting?.get(ticket.dedupKey) !== ticket) continue;
      waiting.delete(ticket.dedupKey);
      if (waiting.size === 0) this.#forget(ticket);
    }
  }

  #due(): Candidate[] {
    const nowMs = this.#clock.monotonicMs();
    return this.#candidates().filter((candidate) => dueMsOf(candidate) <= nowMs);
  }

  #giveWay(ticket: Ticket): boolean {
    const newer = this.#waitingWith(ticket)?.get(ticket.dedupKey);
    newer?.replace(ticket);
    return newer !== undefined;
  }

  #waitingWith({ id, kind }: Ticket): Waiting | undefined {
    return this.#waiting.get(id.toLowerCase())?.get(kind);
  }

  #waitingFor({ id, kind }: Ticket): Waiting {
    const kinds = this.#waiting.get(id.toLowerCase()) ?? new Map<AnyKind, Waiting>();
    this.#waiting.set(id.toLowerCase(), kinds);
    const waiting = kinds.get(kind) ?? new Map<string | undefined, Ticket>();
    kinds.set(kind, waiting);
    return waiting;
  }

  #forget({ id, kind }: Ticket): void {
    const kinds = this.#waiting.get(id.toLowerCase());
    kinds?.delete(kind);
    if (kinds?.size === 0) this.#waiting.delete(id.toLowerCase());
  }

  #candidates(): Candidate[] {
    const candidate = (tickets: readonly Ticket[], isApart: boolean): Candidate => {
      return { id: tickets[0]?.id ?? "", tickets, isApart };
    };
    const nowMs = this.#clock.monotonicMs();
    return [
      ...this.#apart.map((group) => candidate(group, true)),
      ...[...this.#waiting.values()].flatMap((kinds) =>
        [...kinds.values()].flatMap((waiting) =>
          together([...waiting.values()], nowMs).map((tickets) => candidate(tickets, false)),
        ),
      ),
    ];
  }

  #compare(one: Candidate, other: Candidate): number {
    const turn = ({ tickets }: Candidate): number =>
      Math.min(...tickets.map(({ namespace }) => this.#turns.lastOf(namespace)));
    const rank = ({ tickets }: Candidate): number => Math.min(...tickets.map((ticket) => this.#rankOf(ticket)));
    const since = ({ tickets }: Candidate): number => Math.min(...tickets.map((ticket) => ticket.sinceMs));
    return (
      rank(one) - rank(other) ||
      turn(one) - turn(other) ||
      Number(other.isApart) - Number(one.isApart) ||
      since(one) - since(other)
    );
  }

  /** A write that has failed before never becomes overdue: no other waits behind what fails again and again. */
  #rankOf({ priority, sinceMs, failures, conflicts }: Ticket): number {
    const isOverdue = this.#clock.monotonicMs() - sinceMs >= PATIENCE_MS && failures + conflicts === 0;
    return isOverdue ? 0 : RANK[priority];
  }
}

/** Of the most urgent of them. */
export function mostUrgent(tickets: readonly Ticket[]): Priority {
  let most: Priority = "resync";
  for (const { priority } of tickets) if (RANK[priority] < RANK[most]) most = priority;
  return most;
}

/** The namespace that all of them are of, where there is one. */
function namespaceOf([first, ...rest]: readonly Ticket[]): string | undefined {
  return rest.every(({ namespace }) => namespace === first?.namespace) ? first?.namespace : undefined;
}

/**
 * Writes of one kind and id as batches: all together, unless a namespace waits for its retry, which then goes by itself and
 * does not keep the others. A drain is waited for by none: all go along with it.
 */
function together(tickets: readonly Ticket[], nowMs: number): readonly (readonly Ticket[])[] {
  const isLate = (group: readonly Ticket[]): boolean => dueMsOf({ tickets: group }) > nowMs;
  if (!isLate(tickets) || mostUrgent(tickets) === "drain") return [tickets];
  const groups = [...Map.groupBy(tickets, ({ namespace }) => namespace).values()];
  return [groups.filter((group) => !isLate(group)).flat(), ...groups.filter(isLate)].filter(isFilled);
}

/** The most urgent decide: a drain waits for its own retry, not for that of a write that goes along. */
function dueMsOf({ tickets }: Pick<Candidate, "tickets">): number {
  const urgent = mostUrgent(tickets);
  return Math.max(...tickets.filter(({ priority }) => priority === urgent).map(({ retryAtMs }) => retryAtMs));
}

function isFilled(group: readonly Ticket[]): boolean {
  return group.length > 0;
}

function isReplacement(ticket: Ticket, older: Ticket): boolean {
  return (
    ticket.dedupKey === older.dedupKey &&
    ticket.kind === older.kind &&
    ticket.id.toLowerCase() === older.id.toLowerCase()
  );
}
