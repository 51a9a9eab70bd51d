/** What a failed write means for its batch: try again, find the culprit, or give up; and how long to wait. Pure. */
import type { Random } from "../../core/util/clock.ts";
import type { ArmFailure } from "../arm/failures.ts";

/** How often a write has failed so far. */
export interface Tries {
  readonly conflicts: number;
  readonly failures: number;
}

const MOST: Tries = { conflicts: 12, failures: 6 };
/** Two writers that wait for random times soon miss each other. */
const CONFLICT_MS = { first: 25, most: 2_000 };
const FAILURE_MS = { first: 1_000, most: 15_000 };
const READ_MS = { first: 250, most: 5_000 };
/** After this many tries, whatever isn't provisioned is somebody's fault. */
const PROVISIONING_TRIES = 2;

export function isRetryable({ kind }: Pick<ArmFailure, "kind">): boolean {
  return ["conflict", "superseded", "busy", "transient", "throttled", "notProvisioned"].includes(kind);
}

export function isConflict({ kind }: ArmFailure): boolean {
  return kind === "conflict" || kind === "superseded";
}

export function isSpent({ conflicts, failures }: Tries): boolean {
  return conflicts > MOST.conflicts || failures > MOST.failures;
}

/** A refusal up front leaves everything as it was; after anything else we must look again. */
export function maybeChanged({ kind, status }: ArmFailure): boolean {
  return status === undefined || isRetryable({ kind });
}

/** Can it be that the rest of the batch would do without one of them? */
export function shouldBisect(failure: ArmFailure, batch: readonly Tries[]): boolean {
  if (failure.kind === "denied") return failure.code === "LinkedAuthorizationFailed";
  if (failure.kind === "notProvisioned") return batch.every(({ failures }) => failures >= PROVISIONING_TRIES);
  return ["invalid", "quota", "inUse"].includes(failure.kind);
}

/** Before a read, or a poll, that got no proper answer is tried again: growing gently. */
export function readAgainMs(tries: number): number {
  return Math.min(READ_MS.most, READ_MS.first * 1.5 ** tries);
}

/** Before the batch is tried again; Azure's own word counts where there is one. */
export function retryWaitMs(failure: ArmFailure, batch: readonly Tries[], random: Random): number {
  if (isConflict(failure)) {
    const conflicts = Math.max(...batch.map((each) => each.conflicts));
    return Math.min(CONFLICT_MS.most, CONFLICT_MS.first * 2 ** conflicts) * random();
  }
  const saidMs = "retryAfterMs" in failure ? failure.retryAfterMs : undefined;
  const failures = Math.max(...batch.map((each) => each.failures));
  return saidMs ?? Math.min(FAILURE_MS.most, FAILURE_MS.first * 2 ** (failures - 1)) * (0.5 + random() / 2);
}
