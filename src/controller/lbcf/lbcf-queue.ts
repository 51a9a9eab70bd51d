/** A queue of LBCF's objects: measured, and without a bound on how many wait for their driver at a time. */
import type { Clock, Random } from "../../core/clock.ts";
import type { RetryPolicy } from "../../core/lbcf/retry.ts";
import { WorkQueue, type Job, type Verdict } from "../../kube/work-queue.ts";
import type { Resource } from "../../kube/resources.ts";
import { nextAttempt } from "../next-attempt.ts";
import type { LbcfMetrics } from "./lbcf-metrics.ts";
import type { LbcfVoice } from "./lbcf-voice.ts";

export interface QueueContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: LbcfMetrics;
  readonly voice: LbcfVoice;
  readonly retries: RetryPolicy;
}

/** Each driver and the API server have bounds of their own; a bound here would let one hanging driver hold up all. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER;
const BACKOFF = { firstMs: 500, capMs: 60_000 };

export const PRIORITY = { delete: 2, change: 1, resync: 0 } as const;

export function lbcfQueue(resource: Resource, context: QueueContext, look: (job: Job) => Promise<Verdict>): WorkQueue {
  const { clock, random, metrics, voice } = context;
  const work = async (job: Job): Promise<Verdict> => {
    const startMs = clock.monotonicMs();
    try {
      return await look(job);
    } catch (error) {
      voice.failed(resource, job.key, error);
      const { afterMs } = nextAttempt(error, job.failures);
      return { kind: "retry", ...(afterMs !== undefined && { afterMs }) };
    } finally {
      metrics.keys.observe({ crd: resource.kind }, (clock.monotonicMs() - startMs) / 1_000);
    }
  };
  return new WorkQueue({ clock, random, workers: UNBOUNDED, work, backoff: BACKOFF });
}
