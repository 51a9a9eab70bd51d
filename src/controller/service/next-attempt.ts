/**
 * A failure becomes the next attempt of its object: when, and whether the user is told now. Reads the requeue column of
 * the retry table (`core/retry.ts`); where `afterMs` is absent the queue's own backoff decides.
 */
import { ArmError, type ArmFailure } from "../../azure/arm/failures.ts";
import { DELAY, keptRetryAfterMs, MOST, RETRY } from "../../core/retry.ts";
import { KubeFailure } from "../../kube/client/kube-failure.ts";

export interface Attempt {
  readonly afterMs: number | undefined;
  readonly tellUser: boolean;
}

export function nextAttempt(error: unknown, failuresBefore: number): Attempt {
  if (error instanceof ArmError)
    return { afterMs: afterMs(error.failure, failuresBefore), tellUser: isTold(error.failure, failuresBefore) };
  if (error instanceof KubeFailure) {
    return { afterMs: error.retryAfterMs, tellUser: error.kind !== "conflict" && failuresBefore >= MOST.quietFailures };
  }
  return { afterMs: undefined, tellUser: true };
}

function afterMs(failure: ArmFailure, failuresBefore: number): number | undefined {
  switch (RETRY[failure.kind].requeue) {
    case "atOnceFirst":
      return failuresBefore === 0 ? 0 : undefined;
    case "asTold":
      return "retryAfterMs" in failure ? keptRetryAfterMs(failure) : undefined;
    case "slowly":
      return DELAY.slowRequeueMs;
    case "backoff":
      return undefined;
  }
}

/** Is the user told of a failure now? `failuresBefore`: of the same work, in a row. */
export function isTold({ kind }: ArmFailure, failuresBefore: number): boolean {
  switch (RETRY[kind].tell) {
    case "now":
      return true;
    case "later":
      return failuresBefore >= MOST.quietFailures;
    case "never":
      return false;
  }
}
