/** The words of group commit: what is handed in, and what comes of it. */
import type { Merged } from "../../core/steps.ts";
import type { Rejection, Warning } from "../../core/service/service-intent.ts";
import type { Priority } from "../budget/budget.ts";
import type { ArmFailure } from "../arm/failures.ts";

/** A resource as it travels; `etag` covers it and all its parts. */
export interface ArmBody {
  readonly etag?: string;
  readonly properties?: unknown;
}

/**
 * Pure. Puts all fragments into what is there (`undefined`: nothing is). Owners in its answer are the writes' owners.
 */
export type Merge<Body, Fragment> = (seen: Body | undefined, fragments: readonly Fragment[]) => Merged<Body>;

export const UNCHANGED: Merged<never> = { outcome: { kind: "unchanged" }, refused: [], warnings: [] };

/** One owner's wish for one resource. A newer one of the same owner and kind takes the place of one that still waits. */
export interface Write<Body, Fragment> {
  /** What is PUT or deleted: a resource, or a part of one that Azure lets us write by itself. */
  readonly id: string;
  /** Writes of one kind to one id leave together: their fragments fit the same merge. */
  readonly kind: string;
  readonly owner: string;
  readonly fragment: Fragment;
  readonly merge: Merge<Body, Fragment>;
  readonly priority: Priority;
  /** Look at Azure first, whatever was last seen. */
  readonly afresh?: boolean;
}

export type Committed<Body> =
  /** It is there now; `body` is the resource (of a part: the whole that it belongs to) as Azure then had it. */
  | { readonly kind: "written"; readonly body: Body; readonly warnings: readonly Warning[] }
  | { readonly kind: "unchanged"; readonly body: Body | null; readonly warnings: readonly Warning[] }
  | { readonly kind: "deleted"; readonly warnings: readonly Warning[] }
  /** The merge found that this owner's fragment cannot stand: the user must change something. */
  | { readonly kind: "refused"; readonly rejection: Rejection }
  /** The fragment was decided on what has gone since: look again and decide anew. */
  | { readonly kind: "stale" }
  | { readonly kind: "failed"; readonly failure: ArmFailure };

/** One attempt to commit a batch, for metrics. */
export interface AttemptReport {
  readonly id: string;
  /** The kind of the batch's writes. */
  readonly kind: string;
  readonly size: number;
  /** How long the oldest write of the batch had waited. */
  readonly waitedMs: number;
  readonly durationMs: number;
  readonly outcome: "written" | "unchanged" | "deleted" | "refused" | ArmFailure["kind"];
  readonly failure?: ArmFailure;
  /** The batch will be halved to find whose fault it is. */
  readonly bisects: boolean;
}
