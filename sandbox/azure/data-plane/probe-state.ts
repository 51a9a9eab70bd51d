/**
 * The health of a probed member, as a reducer over probe results. The first result sets it; after that `threshold`
 * consecutive contrary results change it.
 */

export type Health = "unknown" | "up" | "down";

export interface ProbeState {
  readonly health: Health;
  /** Consecutive results that contradict `health`. */
  readonly against: number;
}

export const NOT_PROBED: ProbeState = { health: "unknown", against: 0 };

export function afterProbe({ health, against }: ProbeState, succeeded: boolean, threshold: number): ProbeState {
  const seen = succeeded ? "up" : "down";
  if (health === seen) return { health, against: 0 };
  if (health === "unknown" || against + 1 >= threshold) return { health: seen, against: 0 };
  return { health, against: against + 1 };
}
