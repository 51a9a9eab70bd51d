/**
 * The controller's way to Azure: the mirror that answers reads, the group commit that writes, and the resource lock that
 * other controllers of the cluster respect. They depend on each other, and the circle is closed here:
 *
 *   before a write leaves              | the lock is held, except for drains; and the leader's lease must hold
 *   a body was read or written         | the mirror has it from then on
 *   a write was attempted              | metrics count it; where it failed, `onFailure` is called
 *   the lock had another holder before | the mirror expires: what it has may be out of date
 *   the lock is to be given back       | not while the group commit has writes in flight
 */
import type { ArmClient } from "../azure/arm/arm-client.ts";
import type { ArmFailure } from "../azure/arm/failures.ts";
import { Mirror } from "../azure/cache/mirror.ts";
import type { ArmReader } from "../azure/cache/resource-lists.ts";
import type { AttemptReport } from "../azure/group-commit/commit-types.ts";
import { GroupCommit } from "../azure/group-commit/group-commit.ts";
import type { ClusterConfig } from "../core/config/cluster-config.ts";
import type { Clock, Random } from "../core/util/clock.ts";
import type { Log } from "../core/util/log.ts";
import type { KubeClient } from "../kube/client/kube-client.ts";
import type { Fence } from "../kube/election/lease.ts";
import type { Metrics } from "./metrics.ts";
import { ResourceLock } from "./resource-lock.ts";
import { type TakenAway, TakenAwayWatch } from "./taken-away.ts";
import type { WriteLog } from "./write-log.ts";

export interface FailedAttempt extends AttemptReport {
  readonly failure: ArmFailure;
}

export interface AzureConnectionOptions {
  /** Azure has told a read of the mirror to wait: called with the time that is left. */
  readonly onReadHeld: (waitMs: number) => void;
  readonly config: ClusterConfig;
  readonly arm: ArmClient;
  /** For the lock; its writes need the leader's lease. */
  readonly kube: KubeClient;
  readonly fence: Fence;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Each attempt to write that failed. */
  readonly onFailure: (report: FailedAttempt) => void;
  /** A load balancer, or one of its pools, is gone: a machine may have joined it meanwhile. */
  readonly onPoolsGone: () => void;
  /** A write has taken away what others may have relied on meanwhile. */
  readonly onTakenAway: (taken: TakenAway) => void;
  /** cloud-provider-azure's service controller writes the same load balancers. */
  readonly onRival: (message: string) => void;
  /** Absent: no view asks for the last writes. */
  readonly writes?: WriteLog | undefined;
}

export class AzureConnection {
  readonly mirror: Mirror;
  readonly commit: GroupCommit;
  readonly #lock: ResourceLock;
  readonly #closing = new AbortController();

  constructor(options: AzureConnectionOptions) {
    const { config, arm, kube, fence, metrics, clock, random, log, onFailure, onRival } = options;
    const mirror = new Mirror({
      client: toldOf(arm, options.onReadHeld),
      config,
      clock,
      onPoolsGone: options.onPoolsGone,
    });
    this.mirror = mirror;
    this.#lock = new ResourceLock({
      client: kube,
      clock,
      signal: this.#closing.signal,
      onOthers: () => mirror.expire(),
      onRival,
      onWait: (message) => log.warn(message),
      isInUse: () => this.commit.resourcesAtWork > 0,
    });
    const takenAway = new TakenAwayWatch(options.onTakenAway);
    this.commit = new GroupCommit({
      client: arm,
      clock,
      random,
      mayWrite: async (priority) => {
        // a doomed node has no time to wait for another holder; the ETag guards what that one writes
        if (priority !== "drain") {
          const askedMs = clock.monotonicMs();
          await this.#lock.hold();
          metrics.lockWaitSeconds.observe({}, (clock.monotonicMs() - askedMs) / 1000);
        }
        return fence.holds();
      },
      lastSeen: mirror.lastSeen.bind(mirror),
      wasThere: mirror.wasThere.bind(mirror),
      isJustWritten: mirror.isJustWritten.bind(mirror),
      onSeen: (id, body) => {
        const before = mirror.lastSeen(id);
        options.writes?.seen(id, before, body);
        takenAway.seen(id, before, body);
        mirror.seen(id, body);
      },
      onAttempt: (report) => {
        measure(metrics, report);
        options.writes?.attempted(report);
        takenAway.attempted(report);
        const { failure } = report;
        if (failure !== undefined) onFailure({ ...report, failure });
      },
    });
  }

  /** What users should know of other clients that write the same load balancers. */
  get notices(): readonly string[] {
    return this.#lock.notices;
  }

  /** No write waits for the lock any more; those that have left go on. */
  stopWaiting(reason: Error): void {
    this.#closing.abort(reason);
  }

  /** Resolves once no write is in flight. Call `releaseLock` when nothing writes any more. */
  close(): Promise<void> {
    return this.commit.close();
  }

  /** Never fails: a lock that is not given back runs out. */
  async releaseLock(): Promise<void> {
    await this.#lock.release().catch(() => {});
  }
}

function measure(metrics: Metrics, { id, size, outcome }: AttemptReport): void {
  const kind = id.split("/").at(-2) ?? "";
  if (outcome === "written" || outcome === "deleted") metrics.batchSize.observe({ kind }, size);
  else if (outcome !== "unchanged" && outcome !== "refused") metrics.conflicts.inc({ reason: outcome });
}

/** The client's reads; `onHeld` is called when Azure tells one of them to wait. */
function toldOf(arm: ArmClient, onHeld: (waitMs: number) => void): ArmReader {
  return {
    get: (id, options) => arm.get(id, { ...options, onHeld }),
    find: (id, options) => arm.find(id, { ...options, onHeld }),
    list: (path, options) => arm.list(path, { ...options, onHeld }),
  };
}
