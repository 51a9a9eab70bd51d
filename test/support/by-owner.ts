/** What a merge answers, told by owner and in their order: for tests that ask who was refused or warned, and why. */
import type { Merged, Rejection, Warning } from "../../src/core/outcome.ts";

export interface ByOwner<Body> {
  readonly outcome: Merged<Body>["outcome"];
  readonly refused: readonly { readonly owner: string; readonly rejection: Rejection }[];
  readonly stale: readonly string[];
  readonly warnings: readonly { readonly owner: string; readonly warning: Warning }[];
}

export function byOwner<Seen, Fragment, Body>(
  merge: (seen: Seen, fragments: readonly Fragment[]) => Merged<Body>,
  ownerOf: (fragment: Fragment) => string,
): (seen: Seen, fragments: readonly Fragment[]) => ByOwner<Body> {
  return (seen, fragments) => {
    const { outcome, answers } = merge(seen, fragments);
    const told = fragments
      .flatMap((fragment, at) => {
        const answer = answers[at];
        return answer === undefined ? [] : [{ owner: ownerOf(fragment), answer }];
      })
      .sort((one, other) => (one.owner < other.owner ? -1 : 1));
    return {
      outcome,
      refused: told.flatMap(({ owner, answer }) =>
        answer.kind === "refused" ? [{ owner, rejection: answer.rejection }] : [],
      ),
      stale: told.flatMap(({ owner, answer }) => (answer.kind === "stale" ? [owner] : [])),
      warnings: told.flatMap(({ owner, answer }) =>
        answer.kind === "accepted" ? answer.warnings.map((warning) => ({ owner, warning })) : [],
      ),
    };
  };
}
