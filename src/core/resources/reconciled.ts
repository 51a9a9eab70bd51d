/** What the reconcile functions of all resource folders answer, and how a merge of one fragment becomes that. */
import type { Merged, Rejection } from "../outcome.ts";
import type { Kind, StepOf } from "./azure-step.ts";

export type Reconciled<K extends Kind> =
  /** What is there is right. */
  | { readonly kind: "settled" }
  | {
      readonly kind: "act";
      readonly steps: readonly StepOf<K>[];
      /** The whole resource goes with them. */
      readonly deletes: boolean;
    }
  /** The fragment names what has gone since it was observed: observe again. */
  | { readonly kind: "stale" }
  | { readonly kind: "reject"; readonly rejection: Rejection };

export const SETTLED = { kind: "settled" } as const;

/** `step`: that which writes the merged fragment, by what becomes of the resource. */
export function reconciled<K extends Kind>(
  { outcome, answers: [answer] }: Pick<Merged<unknown>, "outcome" | "answers">,
  step: (outcome: "put" | "post" | "delete") => StepOf<K>,
): Reconciled<K> {
  if (answer?.kind === "refused") return { kind: "reject", rejection: answer.rejection };
  if (answer?.kind === "stale") return { kind: "stale" };
  if (outcome.kind === "unchanged") return SETTLED;
  return { kind: "act", steps: [step(outcome.kind)], deletes: outcome.kind === "delete" };
}

/** Several resources of one decision: the steps of all, unless one of them cannot be written. */
export function together<K extends Kind>(results: readonly Reconciled<K>[]): Reconciled<K> {
  const obstacle = results.find(({ kind }) => kind === "reject") ?? results.find(({ kind }) => kind === "stale");
  if (obstacle !== undefined) return obstacle;
  const acts = results.filter((result) => result.kind === "act");
  if (acts.length === 0) return SETTLED;
  return { kind: "act", steps: acts.flatMap(({ steps }) => steps), deletes: acts.some(({ deletes }) => deletes) };
}
