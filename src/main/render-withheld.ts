/** What the brake withholds, as a paragraph of a plan: no line where it withholds nothing. */
import { isWithheld, type WithheldWrites } from "../core/brake/withheld-writes.ts";
import { nameOfId } from "../core/model/ids.ts";
import { pluralize } from "../core/util/text.ts";

/** What the brake would withhold; a write of it is released by the hash of all. */
export interface WithheldPlan extends WithheldWrites {
  readonly hash: string;
}

/** So that both lists and the plan fit a screen; `-o json` has them whole. */
const MOST_LINES = 10;
const MOST_NAMES = 10;

export function renderWithheld({ services, members, hash }: WithheldPlan): string[] {
  if (!isWithheld({ services, members })) return [];
  const lines = [
    "withheld by the brake: too much would be taken at once from Services that did not change",
    ...some(
      services.map(({ service, addresses }) => `  ${service} would lose ${addresses.join(", ")}`),
      "Service",
    ),
    ...some(
      members.map(({ pool, members: names }) => `  pool "${nameOfId(pool)}" would lose ${namesIn(names)}`),
      "pool",
    ),
    `  if all of that is intended: azlb release-brake ${hash}`,
    "",
  ];
  return [lines.join("\n")];
}

function some(lines: readonly string[], noun: string): string[] {
  const more = lines.length - MOST_LINES;
  return more <= 0 ? [...lines] : [...lines.slice(0, MOST_LINES), `  and ${pluralize(more, `more ${noun}`)} (-o json)`];
}

function namesIn(ids: readonly string[]): string {
  const more = ids.length - MOST_NAMES;
  const names = ids.slice(0, MOST_NAMES).map(nameOfId).join(", ");
  return more <= 0 ? names : `${names} and ${pluralize(more, "more member")}`;
}
