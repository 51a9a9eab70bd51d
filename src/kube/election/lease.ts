/** A Lease as the API server stores it, for leader election and for the lock that controllers share. */
import type { KubeObject } from "../client/resources.ts";

export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string | null;
    readonly leaseDurationSeconds?: number | null;
    readonly acquireTime?: string | null;
    readonly renewTime?: string | null;
    readonly leaseTransitions?: number | null;
  };
}

/** Times of a Lease have exactly six digits after the point; the API server refuses three. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}
