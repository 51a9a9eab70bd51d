/**
 * What is believed about a probed member, as a reducer over probe results. The first result is believed at once; later
 * it takes `threshold` results in a row against the belief to change it.
 */

export type Health = "unknown" | "up" | "down";

export interface ProbeState {
  readonly health: Health;
  /** Results in a row that speak against the belief. */
  readonly against: number;
}

export const NOT_PROBED: ProbeState = { health: "unknown", against: 0 };

export function afterProbe({ health, against }: ProbeState, succeeded: boolean, threshold: number): ProbeState {
  const seen = succeeded ? "up" : "down";
  if (health === seen) return { health, against: 0 };
  if (health === "unknown" || against + 1 >= threshold) return { health: seen, against: 0 };
  return { health, against: against + 1 };
}
