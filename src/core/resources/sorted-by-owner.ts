import type { Owner } from "../outcome.ts";

/** The fragments in an order that does not depend on when they came: by the owner's key, then by its UID. */
export function sortedByOwner<Fragment extends { readonly owner: Owner }>(fragments: readonly Fragment[]): Fragment[] {
  return fragments.toSorted(
    ({ owner: one }, { owner: other }) => compare(one.key, other.key) || compare(one.uid, other.uid),
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
