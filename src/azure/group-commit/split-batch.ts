/**
 * How a batch that Azure refused is taken apart to find the culprit: where the refusal mentions names that only a few of
 * its fragments have, those few from the rest; else one half of its namespaces from the other, so that one namespace's
 * culprits hold up no other's writes; else in halves. A mention is a hint for speed and nothing more: both groups are
 * tried, and each answers for itself.
 */
import type { ArmFailure } from "../arm/failures.ts";
import type { Ticket } from "./write-kind.ts";

/** Two groups, likely innocent ones first; neither is empty for a batch of two or more. */
export function splitBatch(batch: readonly Ticket[], failure: ArmFailure): [Ticket[], Ticket[]] {
  const suspects = mentioned(batch, failure);
  if (suspects.size > 0 && suspects.size < batch.length) {
    return [batch.filter((ticket) => !suspects.has(ticket)), batch.filter((ticket) => suspects.has(ticket))];
  }
  const namespaces = [...Map.groupBy(batch, ({ namespace }) => namespace).values()];
  if (namespaces.length === 1) return halves(batch);
  // many writes of one namespace are likelier to hold a culprit
  const [few, many] = halves(namespaces.toSorted((one, other) => one.length - other.length));
  return [few.flat(), many.flat()];
}

/** The first is the larger one. */
function halves<Item>(items: readonly Item[]): [Item[], Item[]] {
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)];
}

function mentioned(batch: readonly Ticket[], failure: ArmFailure): ReadonlySet<Ticket> {
  const text = [failure.message, ...failure.details.map(({ message, target }) => `${message} ${target ?? ""}`)].join(
    " ",
  );
  const words = new Set(text.toLowerCase().split(/[\s'"/,;:()[\]]+|\.(?:\s|$)/));
  const names = batch.map((ticket) => new Set(namesIn(ticket.fragment).filter((name) => words.has(name))));
  const bearers = new Map<string, number>();
  for (const name of names.flatMap((own) => [...own])) bearers.set(name, (bearers.get(name) ?? 0) + 1);
  const isRare = (name: string): boolean => (bearers.get(name) ?? 0) * 2 <= batch.length;
  return new Set(batch.filter((_, at) => [...(names[at] ?? [])].some(isRare)));
}

/** All `name`s of a fragment, and the last segments of its `id`s, in lower case. */
function namesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, field]: [string, unknown]) => {
    if (typeof field !== "string") return namesIn(field);
    if (key !== "name" && key !== "id") return [];
    return [field.slice(field.lastIndexOf("/") + 1).toLowerCase()];
  });
}
