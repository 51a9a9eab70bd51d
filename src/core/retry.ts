/**
 * What each kind of failure of an Azure call leads to, wherever it is met, with every delay and limit: lanes, reads, polls,
 * the throttle budget and the queues of Services, pools and draining nodes read their rule here and hold no figures of their
 * own. Not here: how failures are recognised (`azure/arm/failures.ts`); watches and Events of Kubernetes, which retry by
 * themselves; LBCF, whose loops and drivers have figures of their own (`lbcf/drivers/retry.ts`).
 */

/** What Azure said; explained, with what helps, in `azure/arm/failures.ts`. */
export type FailureKind =
  | "notFound"
  | "conflict"
  | "superseded"
  | "busy"
  | "notProvisioned"
  | "throttled"
  | "invalid"
  | "quota"
  | "inUse"
  | "locked"
  | "denied"
  | "unauthenticated"
  | "transient"
  | "fenced";

export interface RetryRule {
  /**
   * A batch of writes in its lane. `conflict`, `failure`: tried again, counted as such. `repair`: the same as a failure,
   * once what it waits for was written again; after `MOST.repairs` of them, taken apart. `apart`: taken apart to find
   * the culprit, which fails; `apartIfLinked`: only where Azure refused a reference. `fail`: fails as a whole.
   */
  readonly lane: "conflict" | "failure" | "repair" | "apart" | "apartIfLinked" | "fail";
  /** A read. `again`: after a pause; `atGate`: as soon as the budget's gate, closed by the failure, lets it. */
  readonly read: "again" | "atGate" | "fail";
  /** A poll of an operation. `lost`: the operation cannot be followed any more. */
  readonly poll: "again" | "lost" | "fail";
  /**
   * The object whose work failed, in its queue. `atOnceFirst`: without delay after the first failure, then by the queue's
   * backoff; `asTold`: after Azure's `Retry-After`, else by backoff; `slowly`: after `DELAY.slowRequeueMs`.
   */
  readonly requeue: "atOnceFirst" | "asTold" | "backoff" | "slowly";
  /** When the user is told by an event: at the first failure, after `MOST.quietFailures` in a row, or never. */
  readonly tell: "now" | "later" | "never";
}

export const RETRY: Readonly<Record<FailureKind, RetryRule>> = {
  conflict: { lane: "conflict", read: "fail", poll: "fail", requeue: "atOnceFirst", tell: "later" },
  superseded: { lane: "conflict", read: "fail", poll: "fail", requeue: "atOnceFirst", tell: "later" },
  busy: { lane: "failure", read: "again", poll: "again", requeue: "asTold", tell: "later" },
  transient: { lane: "failure", read: "again", poll: "again", requeue: "asTold", tell: "now" },
  throttled: { lane: "failure", read: "atGate", poll: "again", requeue: "asTold", tell: "now" },
  notProvisioned: { lane: "repair", read: "fail", poll: "fail", requeue: "backoff", tell: "later" },
  invalid: { lane: "apart", read: "fail", poll: "fail", requeue: "backoff", tell: "now" },
  quota: { lane: "apart", read: "fail", poll: "fail", requeue: "backoff", tell: "now" },
  inUse: { lane: "apart", read: "fail", poll: "fail", requeue: "backoff", tell: "now" },
  denied: { lane: "apartIfLinked", read: "fail", poll: "fail", requeue: "slowly", tell: "now" },
  locked: { lane: "fail", read: "fail", poll: "fail", requeue: "slowly", tell: "now" },
  unauthenticated: { lane: "fail", read: "fail", poll: "fail", requeue: "slowly", tell: "now" },
  notFound: { lane: "fail", read: "fail", poll: "lost", requeue: "backoff", tell: "now" },
  fenced: { lane: "fail", read: "fail", poll: "fail", requeue: "backoff", tell: "never" },
};

/** A delay that doubles with each failure, up to a cap. */
export interface Backoff {
  readonly firstMs: number;
  readonly capMs: number;
}

export const BACKOFF = {
  /** In a lane after a conflict, times a random share: two writers that wait for random times soon miss each other. */
  conflict: { firstMs: 25, capMs: 2_000 },
  /** In a lane after a failure, where Azure names no time. */
  failure: { firstMs: 1_000, capMs: 15_000 },
  /** Between reads, and between polls: grows by half instead of doubling. */
  read: { firstMs: 250, capMs: 5_000 },
  /** Of a key in a work queue. */
  requeue: { firstMs: 1_000, capMs: 300_000 },
  /** Of a draining node, which has no minutes to wait; caps `Retry-After` too. */
  drain: { firstMs: 500, capMs: 15_000 },
} as const satisfies Readonly<Record<string, Backoff>>;

export const DELAY = {
  /** The budget's gate stays closed for so long after a 429 that names no time. */
  gateClosedMs: 5_000,
  /** Azure's `Retry-After` is kept for so long at most, wherever it is met. */
  mostRetryAfterMs: 300_000,
  /** A drain is tried once in so long, whatever Azure has told others. */
  drainAtClosedGateMs: 5_000,
  /** A person must act first. */
  slowRequeueMs: 60_000,
  /** What users have made in Azure since is seen by a look only; it is cheap. */
  refusedMs: 60_000,
  /** Services that wait for others are looked at together so long after a change of one: changes come in bursts. */
  wakeRefusedMs: 1_000,
  /** And longer where there are many, so that they never take more than a small share of the process. */
  wakePerRefusedMs: 10,
  /** A Service that waits for something else to end. */
  waitingMs: 1_000,
} as const;

export const MOST = {
  /** Per write in a lane. */
  conflicts: 12,
  failures: 6,
  /** Failures for want of provisioning, before a batch is taken apart. */
  repairs: 2,
  /** Attempts of one read. */
  reads: 5,
  /** Failed polls in a row after the first, before the operation is lost. */
  polls: 8,
  /** Failures in a row, of an object or a write, that the user need not know of: writers meet now and then. */
  quietFailures: 3,
} as const;

/** Before a read or a poll is tried again. */
export function readAgainMs(tries: number): number {
  const { firstMs, capMs } = BACKOFF.read;
  return Math.min(capMs, firstMs * 1.5 ** tries);
}

/** What Azure asked for, as far as it is kept; `undefined` where it named no time. */
export function keptRetryAfterMs(failure: { readonly retryAfterMs?: number | undefined }): number | undefined {
  return failure.retryAfterMs === undefined ? undefined : Math.min(failure.retryAfterMs, DELAY.mostRetryAfterMs);
}
