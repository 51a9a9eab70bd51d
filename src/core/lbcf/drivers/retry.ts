/** When to ask a driver again. The figures are LBCF's; the work queue counts the failures in a row. */
import type { NotYet } from "./driver-answers.ts";

export interface RetryPolicy {
  /** Never sooner. */
  readonly leastMs: number;
  /** Doubles with each failure, and is what a driver that does not say gets. */
  readonly stepMs: number;
  /** Never later by ourselves; a driver may ask for more. */
  readonly mostMs: number;
}

export const LBCF_RETRIES: RetryPolicy = { leastMs: 5_000, stepMs: 10_000, mostMs: 120_000 };

export function retryDelayMs({ status, retryAfterMs }: NotYet, failures: number, policy: RetryPolicy): number {
  const { leastMs, stepMs, mostMs } = policy;
  if (status === "Running") return retryAfterMs ?? stepMs;
  return Math.max(leastMs, Math.min(mostMs, stepMs * 2 ** failures), retryAfterMs ?? 0);
}
