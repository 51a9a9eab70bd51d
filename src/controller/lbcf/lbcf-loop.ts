/**
 * The reconcile loop of one kind, measured. Kinds of which there are thousands have a bound on concurrent reconciliations: one that
 * waits as a key costs a hundredth of one that waits half done. What waits for a driver does not count (`aside`), so that a
 * hanging driver delays no other object.
 */
import type { Clock, Random } from "../../core/util/clock.ts";
import { WorkQueue, type Job, type Verdict } from "../../kube/work-queue.ts";
import type { Resource } from "../../kube/client/resources.ts";
import { nextAttempt } from "../service/next-attempt.ts";
import type { Drivers } from "./drivers/drivers.ts";
import type { RetryDelays } from "./drivers/retry-delays.ts";
import type { ValidationMemo } from "./drivers/validation-memo.ts";
import type { LbcfCache } from "./objects/lbcf-cache.ts";
import type { LbcfMetrics } from "./lbcf-metrics.ts";
import type { Events } from "../events.ts";
import type { LbcfWriter } from "./objects/lbcf-writer.ts";
import { errorText } from "../../core/util/text.ts";

/** What every controller of LBCF needs. */
export interface LbcfContext {
  readonly cache: LbcfCache;
  readonly drivers: Drivers;
  readonly writer: LbcfWriter;
  readonly events: Events;
  readonly metrics: LbcfMetrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly delays: RetryDelays;
  readonly validations: ValidationMemo;
}

export const DONE: Verdict = { kind: "done" };

/** `undefined`: no requeue; the next change enqueues the object. */
export function later(afterMs: number | undefined): Verdict {
  return afterMs === undefined ? DONE : { kind: "again", afterMs };
}

/** Drivers and the API server have bounds of their own. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER;
/** Twice what is written to the API server at a time. */
export const MANY = 128;
const BACKOFF = { firstMs: 500, capMs: 60_000 };

/** For `untilSettled`: lower than its default, since a driver's answers may go in circles. */
export const MOST_DRIVER_ROUNDS = 12;

export const PRIORITY = { delete: 2, change: 1, resync: 0 } as const;

export class LbcfLoop {
  readonly #queue: WorkQueue;

  /** `reconcile` handles one object, by key; when it throws, the object is requeued with backoff. */
  constructor(
    resource: Resource,
    context: LbcfContext,
    reconcile: (job: Job) => Promise<Verdict>,
    atATime: number = UNBOUNDED,
  ) {
    const { clock, random, metrics, events } = context;
    const work = async (job: Job): Promise<Verdict> => {
      const startMs = clock.monotonicMs();
      try {
        return await reconcile(job);
      } catch (error) {
        events.logRetry(resource, job.key, errorText(error));
        const { afterMs } = nextAttempt(error, job.failures);
        return { kind: "retry", ...(afterMs !== undefined && { afterMs }) };
      } finally {
        metrics.keys.observe({ crd: resource.kind }, (clock.monotonicMs() - startMs) / 1_000);
      }
    };
    this.#queue = new WorkQueue({ clock, random, workers: atATime, work, backoff: BACKOFF });
  }

  /** Call once the caches are synced. */
  start(): void {
    this.#queue.start();
  }

  stop(patienceMs: number): Promise<void> {
    return this.#queue.stop(patienceMs);
  }

  stats(): ReturnType<WorkQueue["stats"]> {
    return this.#queue.stats();
  }

  /** For the reconciliation of `key`, where it waits for a driver. */
  aside<T>(key: string, wait: () => Promise<T>): Promise<T> {
    return this.#queue.aside(key, wait);
  }

  /** `afterMs` debounces bursts of changes. */
  enqueue(key: string, afterMs = 0, priority: number = PRIORITY.change): void {
    this.#queue.add(key, { afterMs, priority });
  }
}
