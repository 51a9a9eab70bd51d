/**
 * The limits of the brake on blast radius: what the controller may take at once from Services that did not change.
 * `pool-brake.ts` applies them to the members of pools, `../plan/plan-cluster.ts` to addresses.
 */
import type { ShareLimit } from "./share-limit.ts";

export interface BrakeLimits {
  /** Unchanged Services that may lose something within the window. From more than that nothing is taken. */
  readonly services: number;
  /** Of a pool's members, within the window. */
  readonly members: ShareLimit;
}

/** A hundred nodes may go at once from a cluster of 150, and any number that announces it. */
export const DEFAULT_BRAKE_LIMITS: BrakeLimits = { services: 10, members: { share: 0.7, minimum: 3 } };

/** What was taken longer ago does not count any more. */
export const BRAKE_WINDOW_MS = 300_000;
/** An operator's release holds for that long. */
export const RELEASE_MS = 900_000;
