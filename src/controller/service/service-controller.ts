/**
 * Which Service is looked at when, and what follows from the result. What is right for a Service stands in the core;
 * how it is made true, in `cloud-load-balancer.ts`; its events, in `service-events.ts`.
 *
 *   what happened                                  | what is looked at
 *   -----------------------------------------------|---------------------------------------------
 *   a Service changed, or is there at the start    | that Service
 *   the labels of a namespace changed              | its Services, where they decide the placement
 *   nodes changed, once their pools are right      | all, at low priority (rules that name nodes)
 *   a Service changed, was written or went         | those that are refused because of others (`wake-refused.ts`)
 *   a write took something away (`taken-away.ts`)  | those that were found settled while it was under way
 *   every `driftPeriodMs`, after a fresh look      | all, at low priority
 *
 * A Service that is no longer to be served is not kept waiting by what was being done for it: that sync is aborted, its
 * writes are withdrawn, and the next one deletes.
 *
 * A look costs no call to Azure unless there is something to write. Namespaces take turns, so that one with many changes
 * does not hold up the Services of another.
 */
import type { Clock, Random, DecisionTurns } from "../../core/util/clock.ts";
import { askedOf, waitsForRelease, waitsForServices } from "../../core/service/wake-refused.ts";
import { ArmError } from "../../azure/arm/failures.ts";
import type { Step } from "../../core/steps.ts";
import type { WarningReason } from "../../core/events/event-reasons.ts";
import { BACKOFF, DELAY } from "../../core/retry.ts";
import { namespaceOfKey, serviceKey, type Service } from "../../core/model/kubernetes.ts";
import type { Log } from "../../core/util/log.ts";
import { isHeld, needsCleanup, wantsLoadBalancer, type ClassFilter } from "../../core/intent/ownership.ts";
import { backoffMs } from "../../kube/client/backoff.ts";
import type { Reflector } from "../../kube/cache/reflector.ts";
import type { WriteThroughStore } from "../../kube/cache/store.ts";
import { sameJson, type KubeObject } from "../../kube/client/resources.ts";
import { WorkQueue, type Job, type Verdict } from "../../kube/work-queue.ts";
import type { CloudLoadBalancer, SyncOutcome } from "./cloud-load-balancer.ts";
import type { DriftWatch } from "./drift-watch.ts";
import type { Metrics } from "../metrics.ts";
import { nextAttempt } from "./next-attempt.ts";
import type { CachedService } from "../projections.ts";
import type { Brake } from "../brake/brake.ts";
import { failureTold, type ServiceEvents } from "./service-events.ts";
import type { Told } from "../../core/view/standing.ts";
import type { TakenAway } from "../taken-away.ts";
import { RefusedServices } from "./refused-services.ts";
import { TakenSteps } from "./taken-steps.ts";

export interface ServiceControllerOptions {
  readonly services: Pick<Reflector<CachedService>, "subscribe" | "store">;
  /** Where their labels decide which load balancer serves a Service. */
  readonly namespaces?: Pick<Reflector<KubeObject>, "subscribe"> | undefined;
  readonly cloud: Pick<CloudLoadBalancer, "ensureLoadBalancer" | "ensureLoadBalancerDeleted">;
  readonly events: Pick<ServiceEvents, "settled" | "warned" | "rejected" | "waiting" | "drifted" | "failed" | "forget">;
  readonly drift: Pick<DriftWatch, "policyOf" | "mayRepair" | "note" | "forget">;
  /** The same Services, with the controller's own writes that the watch has not brought yet. */
  readonly written: Pick<WriteThroughStore<CachedService>, "get">;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly classFilter: ClassFilter;
  readonly workers: number;
  readonly turns: Pick<DecisionTurns, "next">;
  readonly brake?: Pick<Brake, "noteChange" | "settled" | "clear">;
  /** A Service has taken machines out of a load balancer's pools: another may have come to that load balancer since. */
  readonly onMachinesLeft?: () => void;
  /**
   * Something was written to a load balancer, which may have come or gone: nodes may belong elsewhere now, and after a Service that
   * is served (`changed`) machines whose network interface has failed may have to join, for which it does not wait.
   */
  readonly onLoadBalancerChanged?: (by: "changed" | "gone") => void;
  /** A Service that may have something in Azure is refused, here or by Azure, before it was served: pools that it began to use are left to others. */
  readonly onLeftUnfinished?: () => void;
}

/** A Service that drifted has its address. */
const STATE_AFTER = { settled: "served", drifted: "served", rejected: "refused", waiting: "pending" } as const;
const PRIORITY = { delete: 2, change: 1, resync: 0 } as const;

export class ServiceController {
  readonly #options: ServiceControllerOptions;
  readonly #queue: WorkQueue;
  /** By key: aborts the sync that serves a Service. */
  readonly #serving = new Map<string, AbortController>();
  readonly #refused: RefusedServices;
  readonly #taken = new TakenSteps();
  /** By key: when it was last found settled, by the monotonic clock. */
  readonly #settledMs = new Map<string, number>();
  /** Keys of those whose last look, or the one that runs, a write of another has overtaken: what it took away is no drift. */
  readonly #overtaken = new Set<string>();
  /** By key: what Azure refused last, of Services that it has refused something since they were settled. */
  readonly #askedInVain = new Map<string, string>();

  constructor(options: ServiceControllerOptions) {
    this.#options = options;
    const { clock, random, workers, log, metrics } = options;
    this.#queue = new WorkQueue({
      clock,
      random,
      workers,
      work: (job) => this.#sync(job),
      groupOf: namespaceOfKey,
      onError: (key, error) => log.error(`Service ${key}: ${String(error)}`),
    });
    metrics.loops.addQueue("service", this.#queue);
    this.#refused = new RefusedServices(clock, (key) => this.#queue.add(key, { priority: PRIORITY.resync }));
    metrics.serviceStates.begin(clock);
  }

  /** Call once the caches are filled. */
  start(): void {
    this.#options.services.subscribe((change) => {
      const service = change.object;
      if (change.kind === "deleted") {
        this.#options.events.forget(service);
        this.#options.drift.forget(serviceKey(service));
        this.#options.metrics.serviceStates.forget(serviceKey(service));
        this.#options.brake?.settled(serviceKey(service));
        this.#refused.forget(serviceKey(service));
        this.#askedInVain.delete(serviceKey(service));
        this.#settledMs.delete(serviceKey(service));
        this.#overtaken.delete(serviceKey(service));
        this.#refused.wake("gone");
      } else if (this.#concerns(service)) {
        if (change.kind === "updated") this.#options.brake?.noteChange(change.old, service);
        const key = serviceKey(service);
        const isWanted = this.#wants(service);
        if (!this.#refused.isEmpty) {
          const asksAnew = change.kind === "updated" && !sameJson(askedOf(change.old), askedOf(service));
          this.#refused.changed(key, asksAnew);
          if (asksAnew) this.#refused.wake("changed");
        }
        const { serviceStates } = this.#options.metrics;
        if (isWanted) serviceStates.add(key, (service.status.loadBalancer.ingress ?? []).length > 0);
        else serviceStates.note(key, "deleting");
        this.#queue.add(key, { priority: isWanted ? PRIORITY.change : PRIORITY.delete });
        if (!isWanted) this.#serving.get(key)?.abort(new Error("the Service is no longer to be served"));
      }
    });
    this.#options.namespaces?.subscribe((change) => {
      if (change.kind !== "updated" || !sameJson(change.old.metadata.labels, change.object.metadata.labels)) {
        this.#enqueueNamespace(change.object.metadata.name);
      }
    });
    this.#queue.start();
  }

  #enqueueNamespace(namespace: string): void {
    for (const service of this.#options.services.store.values()) {
      const key = serviceKey(service);
      if (namespaceOfKey(key) === namespace && this.#wants(service))
        this.#queue.add(key, { priority: PRIORITY.change });
    }
  }

  /** Looks at every Service, when nothing else is to be done. */
  resync(): void {
    for (const service of this.#options.services.store.values()) {
      if (this.#concerns(service)) this.#queue.add(serviceKey(service), { priority: PRIORITY.resync });
    }
  }

  /** A write of others has taken something away: those that may have relied on it meanwhile are looked at again. */
  lookAgain({ sinceMs, by }: TakenAway): void {
    const settled = [...this.#settledMs].filter(([, atMs]) => atMs >= sinceMs).map(([key]) => key);
    for (const key of new Set([...settled, ...this.#serving.keys()]).difference(new Set(by))) {
      this.#overtaken.add(key);
      this.#queue.add(key, { priority: PRIORITY.resync });
    }
  }

  /** A warning on every Service that the controller serves. */
  warnAll(reason: WarningReason, message: string): void {
    for (const service of this.#options.services.store.values()) {
      if (this.#wants(service)) this.#options.events.warned(service, { reason, message });
    }
  }

  /** Lets the writes in flight end. */
  stop(patienceMs: number): Promise<void> {
    this.#refused.stop();
    return this.#queue.stop(patienceMs);
  }

  #wants(service: Service): boolean {
    return wantsLoadBalancer(service, this.#options.classFilter);
  }

  #concerns(service: Service): boolean {
    return this.#wants(service) || needsCleanup(service, this.#options.classFilter);
  }

  async #sync({ key, failures, signal }: Job): Promise<Verdict> {
    const { written, events, metrics, clock, random, turns } = this.#options;
    await turns.next();
    const service = written.get(key);
    if (service === undefined || !this.#concerns(service)) {
      metrics.serviceStates.forget(key);
      this.#followUp(key, "gone"); // the answer to the last write may have been lost
      return { kind: "done" };
    }
    const request = this.#wants(service) ? "services_ensure_loadbalancer" : "services_ensure_loadbalancer_deleted";
    const startedMs = clock.monotonicMs();
    const aborting = new AbortController();
    if (this.#wants(service)) this.#serving.set(key, aborting);
    try {
      const outcome = await this.#settle(service, AbortSignal.any([signal, aborting.signal]));
      metrics.syncs.inc({ outcome: outcome.kind });
      return this.#follow(service, outcome);
    } catch (error) {
      if (aborting.signal.aborted) return { kind: "done" }; // what aborted it has added the key again
      if (error instanceof ArmError && waitsForRelease(error.failure.kind)) this.#refused.failed(key);
      if (error instanceof ArmError && error.failure.kind === "invalid") this.#refusedByAzure(service);
      metrics.operationFailures.inc({ request });
      const attempt = nextAttempt(error, failures);
      const afterMs = attempt.afterMs ?? backoffMs(BACKOFF.requeue, failures, random);
      metrics.serviceStates.note(
        key,
        this.#wants(service) ? "failing" : "deleting",
        failureTold(service, error),
        afterMs,
      );
      events.failed(service, error, { ...attempt, afterMs });
      return { kind: "retry", afterMs };
    } finally {
      this.#serving.delete(key);
      metrics.operationSeconds.observe({ request }, (clock.monotonicMs() - startedMs) / 1000);
    }
  }

  #settle(service: Service, signal: AbortSignal): Promise<SyncOutcome> {
    const { cloud, drift } = this.#options;
    const key = serviceKey(service);
    const onStep = (step: Step): void => this.#taken.note(key, step);
    if (!this.#wants(service)) return cloud.ensureLoadBalancerDeleted(service, { signal, onStep });
    return cloud.ensureLoadBalancer(service, {
      signal,
      onStep,
      wasRefused: this.#refused.takeWoken(key),
      mayRepair: this.#overtaken.delete(key) || drift.mayRepair(service),
      mayRestore: drift.policyOf(service) === "report",
    });
  }

  /** Once for each thing that it asks for: a look at the pools may end in a look at the Service. */
  #refusedByAzure(service: Service): void {
    const key = serviceKey(service);
    const asked = JSON.stringify(askedOf(service));
    if (this.#askedInVain.get(key) === asked) return;
    this.#askedInVain.set(key, asked);
    this.#leaveUnfinished(service);
  }

  /** What it asks for now will not be written: neither are the pools that it began to use for what it asked before. */
  #leaveUnfinished(service: Service): void {
    const { written, onLeftUnfinished } = this.#options;
    if (isUnfinished(written.get(serviceKey(service)) ?? service)) onLeftUnfinished?.();
  }

  #follow(service: Service, outcome: SyncOutcome): Verdict {
    const verdict = this.#tell(service, outcome);
    const { serviceStates } = this.#options.metrics;
    const key = serviceKey(service);
    const afterMs = verdict.kind === "done" ? undefined : verdict.afterMs;
    if (this.#wants(service)) serviceStates.note(key, STATE_AFTER[outcome.kind], toldOf(outcome), afterMs);
    else if (outcome.kind === "settled") serviceStates.forget(key);
    else serviceStates.note(key, "deleting", toldOf(outcome), afterMs);
    return verdict;
  }

  /** What the writes of a Service lead to, once it is where they were to bring it. */
  #followUp(key: string, what: "changed" | "gone"): void {
    const { any, machinesLeft, loadBalancer } = this.#taken.take(key);
    if (any) this.#refused.wake(what);
    if (machinesLeft) this.#options.onMachinesLeft?.();
    if (loadBalancer) this.#options.onLoadBalancerChanged?.(what);
  }

  #tell(service: Service, outcome: SyncOutcome): Verdict {
    const { events, drift, brake, clock } = this.#options;
    const key = serviceKey(service);
    drift.note(service, outcome);
    if (outcome.kind !== "rejected") this.#refused.forget(key);
    if (outcome.kind === "settled") this.#askedInVain.delete(key);
    if (outcome.kind === "settled" && this.#wants(service)) this.#settledMs.set(key, clock.monotonicMs());
    else this.#settledMs.delete(key);
    if (outcome.kind === "settled") brake?.settled(key);
    else if (outcome.kind !== "rejected" || outcome.rejection.reason !== "WriteWithheld") brake?.clear(key);
    switch (outcome.kind) {
      case "settled":
        events.settled(service, outcome.steps, outcome.warnings);
        this.#followUp(key, this.#wants(service) ? "changed" : "gone");
        return { kind: "done" };
      case "drifted":
        events.drifted(service, outcome.steps, outcome.differences);
        return { kind: "done" };
      case "rejected":
        events.rejected(service, outcome.rejection);
        if (!this.#refused.isStanding(key)) this.#leaveUnfinished(service);
        return { kind: "again", afterMs: this.#refused.refused(key, waitsForServices(outcome.rejection.reason)) };
      case "waiting":
        events.waiting(service, outcome.why);
        return { kind: "again", afterMs: DELAY.waitingMs };
    }
  }
}

/** What the API shows of an outcome. */
function toldOf(outcome: SyncOutcome): Told {
  switch (outcome.kind) {
    case "settled":
      return outcome.warnings.length === 0 ? {} : { warnings: outcome.warnings };
    case "drifted": {
      const what = outcome.steps.map(({ why }) => why).join("; ");
      const message = `Azure differs from what this Service asks for and is left as it is: ${what}`;
      return { reason: "DriftDetected", message, differences: outcome.differences };
    }
    case "rejected":
      return {
        reason: outcome.rejection.reason,
        message: outcome.rejection.message,
        warnings: outcome.rejection.warnings ?? [],
      };
    case "waiting":
      return { message: outcome.why };
  }
}

/** One that is served, and is refused a change, has its pools filled already. */
function isUnfinished(service: Service): boolean {
  return isHeld(service) && (service.status.loadBalancer.ingress ?? []).length === 0;
}
