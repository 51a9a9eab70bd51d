/**
 * What decisions about shared resources come to: whose a fragment is, why one is refused, what a merge answers.
 * The merges stand in `resources/`; which object is told is decided by the caller that submitted the fragment.
 */
import type { WarningReason } from "./events/event-reasons.ts";

/** The Service, or LoadBalancer of LBCF, that a fragment belongs to. `base` prefixes every name that it owns in Azure. */
export interface Owner {
  /** `namespace/name`. */
  readonly key: string;
  readonly uid: string;
  readonly base: string;
}

/** Of a fragment that bears its owner, for the table of resource kinds. */
export function ownerOfFragment({ owner }: { readonly owner: Owner }): Owner {
  return owner;
}

/** The fragments in an order that does not depend on when they came: by the owner's key, then by its UID. */
export function sortedByOwner<Fragment extends { readonly owner: Owner }>(fragments: readonly Fragment[]): Fragment[] {
  return fragments.toSorted(
    ({ owner: one }, { owner: other }) => compare(one.key, other.key) || compare(one.uid, other.uid),
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** The user must change something: becomes a Warning event on the object. */
export interface Rejection {
  readonly kind: "rejection";
  readonly reason: WarningReason;
  /** Names the key, the value and the fix. */
  readonly message: string;
  /** What else the user should know while mending it. */
  readonly warnings?: readonly Warning[];
}

/** Something the user should know that stops nothing. */
export interface Warning {
  readonly reason: WarningReason;
  readonly message: string;
}

/** An action of ARM on a resource or, for a part, on the whole that it belongs to. */
export interface Action {
  /** The last segment of its path. */
  readonly name: string;
  readonly request: object;
}

/** What a merge of fragments into a shared resource comes to. */
export interface Merged<Body> {
  /**
   * The body to PUT, the action to POST and the body that it is expected to lead to, `"delete"` where nothing is left on
   * it, `"unchanged"` where what is there is right.
   */
  readonly outcome:
    | { readonly kind: "put"; readonly body: Body }
    | { readonly kind: "post"; readonly action: Action; readonly body: Body }
    | { readonly kind: "delete" }
    | { readonly kind: "unchanged" };
  /** One for each fragment, in the order in which the fragments were given. */
  readonly answers: readonly Answer[];
}

/** What became of one fragment in a merge. */
export type Answer =
  /** It is in the outcome. Warnings: a frontend that had to stay, a foreign entry that was kept. */
  | { readonly kind: "accepted"; readonly warnings: readonly Warning[] }
  /** It cannot stand here; the resource keeps what the owner had in it. */
  | { readonly kind: "refused"; readonly rejection: Rejection }
  /** It names parts that have gone since it was decided: read again and decide anew. */
  | { readonly kind: "stale" };

export const ACCEPTED: Answer = { kind: "accepted", warnings: [] };

/** Answers in the order of `fragments`, from those that a merge found in an order of its own; the rest are accepted. */
export function answersOf<Fragment>(
  fragments: readonly Fragment[],
  found: ReadonlyMap<Fragment, Answer> = new Map(),
): Answer[] {
  return fragments.map((fragment) => found.get(fragment) ?? ACCEPTED);
}

/** A merge that leaves the resource as it is and accepts every fragment. */
export function unchanged(fragments: readonly unknown[]): Merged<never> {
  return { outcome: { kind: "unchanged" }, answers: answersOf(fragments) };
}
