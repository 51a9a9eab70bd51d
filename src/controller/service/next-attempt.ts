/**
 * When a failed sync is tried again, and whether its failure becomes an event now. Retries within a write, a read or a poll
 * are decided in `src/azure`. Where `afterMs` is absent the queue's own exponential backoff decides.
 */
import { ArmError } from "../../azure/arm/failures.ts";
import { KubeFailure } from "../../kube/client/kube-failure.ts";

export interface Attempt {
  readonly afterMs: number | undefined;
  readonly tellUser: boolean;
}

/** A few conflicts in a row are normal where two clients write; more are worth an event. */
const PATIENCE = 3;
const DENIED_AGAIN_MS = 60_000;

export function nextAttempt(error: unknown, failuresBefore: number): Attempt {
  if (error instanceof ArmError) return afterArm(error, failuresBefore);
  if (error instanceof KubeFailure) {
    return { afterMs: error.retryAfterMs, tellUser: error.kind !== "conflict" && failuresBefore >= PATIENCE };
  }
  return { afterMs: undefined, tellUser: true };
}

function afterArm({ failure }: ArmError, failuresBefore: number): Attempt {
  const later = { afterMs: undefined, tellUser: failuresBefore >= PATIENCE };
  switch (failure.kind) {
    case "conflict":
    case "superseded":
      return failuresBefore === 0 ? { afterMs: 0, tellUser: false } : later;
    case "busy":
    case "throttled":
    case "transient":
      return { ...later, afterMs: failure.retryAfterMs };
    case "notProvisioned":
      return later;
    case "denied":
    case "locked":
    case "unauthenticated":
      return { afterMs: DENIED_AGAIN_MS, tellUser: true };
    case "notFound":
    case "invalid":
    case "quota":
    case "inUse":
      return { afterMs: undefined, tellUser: true };
    case "fenced":
      return { afterMs: undefined, tellUser: false };
  }
}
