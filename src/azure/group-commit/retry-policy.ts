/** The lane's column of the retry table (`core/retry.ts`), applied to a batch: again, apart, or given up. Pure. */
import { BACKOFF, DELAY, keptRetryAfterMs, MOST, RETRY } from "../../core/retry.ts";
import type { Random } from "../../core/util/clock.ts";
import type { ArmFailure } from "../arm/failures.ts";

/** How often a write has failed so far. */
export interface Tries {
  readonly conflicts: number;
  readonly failures: number;
}

export function isRetryable({ kind }: Pick<ArmFailure, "kind">): boolean {
  return ["conflict", "failure", "repair"].includes(RETRY[kind].lane);
}

export function isConflict({ kind }: ArmFailure): boolean {
  return RETRY[kind].lane === "conflict";
}

export function isSpent({ conflicts, failures }: Tries): boolean {
  return conflicts > MOST.conflicts || failures > MOST.failures;
}

/** A refusal up front leaves everything as it was; after anything else the resource must be read again. */
export function maybeChanged({ kind, status }: ArmFailure): boolean {
  return status === undefined || isRetryable({ kind });
}

/** Can it be that the rest of the batch would succeed without one of them? */
export function shouldBisect({ kind, code }: ArmFailure, batch: readonly Tries[]): boolean {
  switch (RETRY[kind].lane) {
    case "apart":
      return true;
    case "apartIfLinked":
      return code === "LinkedAuthorizationFailed";
    case "repair":
      return batch.some(({ failures }) => failures >= MOST.repairs);
    case "conflict":
    case "failure":
    case "fail":
      return false;
  }
}

/** Before the batch is tried again; Azure's own word counts where there is one, for a drain only within its patience. */
export function retryWaitMs(failure: ArmFailure, batch: readonly Tries[], random: Random, isDrain: boolean): number {
  if (isConflict(failure)) {
    const { firstMs, capMs } = BACKOFF.conflict;
    const conflicts = Math.max(...batch.map((each) => each.conflicts));
    return Math.min(capMs, firstMs * 2 ** conflicts) * random();
  }
  const keptMs = "retryAfterMs" in failure ? keptRetryAfterMs(failure) : undefined;
  const toldMs = keptMs !== undefined && isDrain ? Math.min(keptMs, DELAY.drainAtClosedGateMs) : keptMs;
  const { firstMs, capMs } = BACKOFF.failure;
  const failures = Math.max(...batch.map((each) => each.failures));
  return toldMs ?? Math.min(capMs, firstMs * 2 ** (failures - 1)) * (0.5 + random() / 2);
}
