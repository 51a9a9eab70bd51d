/** What the brake withholds, as a paragraph of a plan: no line where it withholds nothing. */
import { isWithheld, type WithheldWrites } from "../core/brake/withheld-writes.ts";
import { nameOfId } from "../core/model/ids.ts";

/** What the brake would withhold; a write of it is released by the hash of all. */
export interface WithheldPlan extends WithheldWrites {
  readonly hash: string;
}

export function renderWithheld({ services, members, hash }: WithheldPlan): string[] {
  if (!isWithheld({ services, members })) return [];
  const lines = [
    "withheld by the brake: too much would be taken at once from Services that did not change",
    ...services.map(({ service, addresses }) => `  ${service} would lose ${addresses.join(", ")}`),
    ...members.map(
      ({ pool, members: names }) => `  pool "${nameOfId(pool)}" would lose ${names.map(nameOfId).join(", ")}`,
    ),
    `  if all of that is intended: azlb release-brake ${hash}`,
    "",
  ];
  return [lines.join("\n")];
}
