/** A batch of writes as one merge: into a whole or a part of it, and back to an outcome for each write. Pure. */
import type { Answer, Merged } from "../../core/outcome.ts";
import type { ArmBody, Committed } from "./commit-types.ts";
import { isPart, partOf } from "./resource-parts.ts";
import type { Ticket } from "./ticket.ts";

/** Merges into `whole`, or into the part of it that the batch is about. `null`: nothing is there. */
export function mergeIntoWhole(whole: ArmBody | null, tickets: readonly Ticket[]): Merged<ArmBody> {
  const id = tickets[0]?.id ?? "";
  return mergeTickets(isPart(id) ? partOf(whole, id) : (whole ?? undefined), tickets);
}

/** Merges into exactly what the batch's id names. */
export function mergeTickets(seen: ArmBody | undefined, tickets: readonly Ticket[]): Merged<ArmBody> {
  const [first] = tickets;
  if (first === undefined) throw new Error("a batch is never empty");
  return first.kind.merge(seen, tickets);
}

/** A refusal or a deletion is only acted on after a read of Azure itself. */
export function needsFreshRead({ outcome, answers }: Merged<ArmBody>): boolean {
  return outcome.kind === "delete" || answers.some(({ kind }) => kind !== "accepted");
}

/** What became of the resource, for all writes whose fragments were accepted. */
export type Result =
  | { readonly kind: "written"; readonly body: ArmBody }
  | { readonly kind: "unchanged"; readonly body: ArmBody | null }
  | { readonly kind: "deleted" };

export interface Settlement {
  readonly ticket: Ticket;
  readonly outcome: Committed<ArmBody>;
}

/** Each ticket gets the answer to its own fragment: the two lists have one order. */
export function settlements(result: Result, { answers }: Merged<ArmBody>, tickets: readonly Ticket[]): Settlement[] {
  const outcomeOf = (answer: Answer | undefined): Committed<ArmBody> =>
    answer?.kind === "refused" || answer?.kind === "stale" ? answer : { ...result, warnings: answer?.warnings ?? [] };
  return tickets.map((ticket, at) => ({ ticket, outcome: outcomeOf(answers[at]) }));
}

export function settleAll(settled: readonly Settlement[]): void {
  for (const { ticket, outcome } of settled) ticket.settle(outcome);
}
