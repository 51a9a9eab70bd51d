/** What is submitted to group commit, and what comes of it. */
import type { Merged, Rejection, Warning } from "../../core/outcome.ts";
import type { Span } from "../../core/util/tracer.ts";
import type { Priority } from "../budget/limits.ts";
import type { ArmFailure } from "../arm/failures.ts";
import type { WriteKind } from "./write-kind.ts";

/** A resource as it travels; `etag` covers it and all its parts. */
export interface ArmBody {
  readonly etag?: string;
  readonly properties?: unknown;
}

/** Pure. Puts all fragments into what is there; `undefined`: nothing is. */
export type Merge<Body, Fragment> = (seen: Body | undefined, fragments: readonly Fragment[]) => Merged<Body>;

/** One caller's fragment for one resource; that caller alone is told what came of it. */
export interface Write<Body extends ArmBody, Fragment, Whole extends ArmBody = Body> {
  /** What is PUT or deleted: a resource, or a part that Azure lets clients write by itself. */
  readonly id: string;
  /** Writes of one kind to one id leave together. */
  readonly kind: WriteKind<Body, Fragment, Whole>;
  readonly fragment: Fragment;
  /** A newer write of the same kind, id and key takes the place of one that still waits. Absent: of any without one. */
  readonly dedupKey?: string;
  readonly priority: Priority;
  /** Of the object that asks for it: namespaces take turns. Absent: no object of a namespace asks. */
  readonly namespace?: string | undefined;
  /** Read the resource first, whatever was last seen. */
  readonly readFirst?: boolean;
  /** What it is done for: the calls to Azure are its children, and it has the event `written` when a write leaves. */
  readonly span?: Span | undefined;
  /** Called after each failed attempt that will be repeated, and when Azure's throttling of others holds it back. */
  readonly onRetry?: (retry: Retry) => void;
  /** Aborted: the write is withdrawn. It does not leave any more; where it has left, the attempt in flight is its last. */
  readonly signal?: AbortSignal;
}

/** An attempt failed, and the write will be attempted again. */
export interface Retry {
  readonly failure: ArmFailure;
  /** Attempts of the write that failed so far, this one included. */
  readonly attempts: number;
  readonly afterMs: number;
}

export type Committed<Body> =
  /** It is there now; `body` is the resource (of a part: the whole that it belongs to) as Azure then had it. */
  | { readonly kind: "written"; readonly body: Body; readonly warnings: readonly Warning[] }
  | { readonly kind: "unchanged"; readonly body: Body | null; readonly warnings: readonly Warning[] }
  | { readonly kind: "deleted"; readonly warnings: readonly Warning[] }
  /** The merge found that this fragment cannot stand: the user must change something. */
  | { readonly kind: "refused"; readonly rejection: Rejection }
  /** The fragment was decided on what has gone since: read again and decide anew. */
  | { readonly kind: "stale" }
  /** By its caller, before it was done. */
  | { readonly kind: "withdrawn" }
  | { readonly kind: "failed"; readonly failure: ArmFailure };

/** One attempt to commit a batch, for metrics. */
export interface AttemptReport {
  readonly id: string;
  /** The kind of the batch's writes. */
  readonly kind: string;
  readonly size: number;
  /** Keys of the objects that own the fragments; absent where none does. */
  readonly owners?: readonly string[];
  readonly durationMs: number;
  /** Since when the first of its writes waits, by the monotonic clock: what it writes was decided then. */
  readonly sinceMs: number;
  readonly outcome: "written" | "unchanged" | "deleted" | "refused" | ArmFailure["kind"];
  readonly failure?: ArmFailure;
}
