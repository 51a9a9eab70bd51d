/** When to call a driver again. The figures are LBCF's; the work queue counts consecutive failures. */
import type { UnfinishedAnswer } from "./driver-answers.ts";

export interface RetryPolicy {
  /** Lower bound. */
  readonly leastMs: number;
  /** First delay, doubled with each failure; also the delay for `Running` without a hint from the driver. */
  readonly stepMs: number;
  /** Upper bound of the backoff; a driver may ask for more. */
  readonly mostMs: number;
}

/** Of what a driver may ask for: a value in milliseconds by mistake must not keep a backend registered for days. */
const LONGEST_ASKED_MS = 3_600_000;

export const LBCF_RETRIES: RetryPolicy = { leastMs: 5_000, stepMs: 10_000, mostMs: 120_000 };

export function retryDelayMs(
  { status, retryAfterMs }: UnfinishedAnswer,
  failures: number,
  policy: RetryPolicy,
): number {
  const { leastMs, stepMs, mostMs } = policy;
  const askedMs = retryAfterMs === undefined ? undefined : Math.min(LONGEST_ASKED_MS, retryAfterMs);
  if (status === "Running") return askedMs ?? stepMs;
  return Math.max(leastMs, Math.min(mostMs, stepMs * 2 ** failures), askedMs ?? 0);
}
