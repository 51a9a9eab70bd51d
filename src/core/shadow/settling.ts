/**
 * When a change of the incumbent is over and can be compared with the prediction. Where Azure is as predicted it is over
 * at once; otherwise Azure must first have been still for a while, since the incumbent may be in the middle of its work.
 *
 *   Azure                                         | outcome
 *   ----------------------------------------------|---------------------------------------------
 *   as before, nothing predicted                  | `idle`
 *   as predicted, nothing under way               | `agreed`
 *   another than predicted, still for `stillMs`   | `differs`
 *   as before, for `untouchedMs`                  | `differs`: the incumbent does not do it
 *   none of these for `longestMs`                 | `unsettled`: it is not scored
 */
export interface Patience {
  /** How long Azure and the prediction must stay the same before a difference counts. */
  readonly stillMs: number;
  /** How long the incumbent may take to begin. */
  readonly untouchedMs: number;
  readonly longestMs: number;
}

export interface Progress {
  readonly nowMs: number;
  /** Since when something is predicted or Azure differs from before; `undefined`: neither. */
  readonly openSinceMs: number | undefined;
  /** When Azure was last seen to change. */
  readonly changedAtMs: number;
  /** When the prediction last changed. */
  readonly predictedAtMs: number;
  /** An operation is under way in Azure. */
  readonly isBusy: boolean;
  /** Azure is as before. */
  readonly isUntouched: boolean;
  /** Azure is as predicted. */
  readonly isAsPredicted: boolean;
}

export type Outcome = "idle" | "waiting" | "agreed" | "differs" | "unsettled";

export function outcomeOf(progress: Progress, { stillMs, untouchedMs, longestMs }: Patience): Outcome {
  const { nowMs, openSinceMs, changedAtMs, predictedAtMs, isBusy, isUntouched, isAsPredicted } = progress;
  if (openSinceMs === undefined) return "idle";
  if (isAsPredicted && !isBusy) return "agreed";
  const stillForMs = nowMs - Math.max(changedAtMs, predictedAtMs);
  if (!isBusy && stillForMs >= (isUntouched ? untouchedMs : stillMs)) return "differs";
  return nowMs - openSinceMs >= longestMs ? "unsettled" : "waiting";
}
