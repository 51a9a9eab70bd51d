/**
 * The writes that fit one merge, and the border between typed and untyped: callers see their own bodies and fragments,
 * the lanes see tickets and `ArmBody`. A kind keeps the fragments of its tickets, so that a batch of tickets finds its
 * way back to the merge without either side knowing the other's types.
 *
 * Bodies become typed here and nowhere else: what Azure answers was checked for its shape when it was read
 * (`arm-client.ts`); which fields the resource at an id has is the promise of the API version.
 */
import type { Merged } from "../../core/outcome.ts";
import type { ArmBody, Committed, Merge, Write } from "./commit-types.ts";
import { Ticket, type AnyKind } from "./ticket.ts";

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
    const { onRetry, signal } = write;
    ticket.await({ settle: (outcome) => resolve(outcome as Committed<Whole>), crash: reject, onRetry, signal });
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
