/**
 * The metrics of work queues and watches. Both count for themselves; their figures are read when the metrics are served.
 * A new leadership term has new queues and watches, which take the place of the former ones: counters then start at 0,
 * as Prometheus expects of a restart. Names that users know from other Kubernetes controllers mean here the same.
 */
import { Counter, Gauge, type Registry } from "prom-client";

import type { ReflectorStats } from "../kube/cache/reflector-stats.ts";
import type { QueueStats } from "../kube/work-queue.ts";

interface Counted<Stats> {
  stats(): Stats;
}

type Figure<Stats> = (stats: Stats) => number | undefined;

export class LoopMetrics {
  readonly #registry: Registry;
  readonly #queues = new Map<string, Counted<QueueStats>>();
  readonly #watches = new Map<string, Counted<Readonly<ReflectorStats>>>();

  constructor(registry: Registry) {
    this.#registry = registry;
    this.#queueMetrics();
    this.#watchMetrics();
  }

  addQueue(name: string, queue: Counted<QueueStats>): void {
    this.#queues.set(name, queue);
  }

  addWatch(resource: string, watch: Counted<Readonly<ReflectorStats>>): void {
    this.#watches.set(resource, watch);
  }

  #queueMetrics(): void {
    const queues = this.#queues;
    this.#gauge("workqueue_depth", "Keys that are due and wait for a worker.", "name", queues, (all) => all.queued);
    this.#counter(
      "workqueue_retries_total",
      "Syncs that failed and were put back.",
      "name",
      queues,
      (all) => all.failures,
    );
    this.#gauge("azlb_queue_running", "Keys that are being synced.", "name", queues, (all) => all.running);
    this.#gauge("azlb_queue_delayed", "Keys that wait for their time.", "name", queues, (all) => all.delayed);
    this.#counter("azlb_queue_syncs_total", "Syncs that ended, failed or not.", "name", queues, (all) => all.runs);
  }

  #watchMetrics(): void {
    const watches = this.#watches;
    this.#gauge("azlb_watch_objects", "Objects in the cache.", "resource", watches, (all) => all.objects);
    this.#gauge(
      "azlb_watch_silence_seconds",
      "Since the API server last sent anything; bookmarks come about every minute.",
      "resource",
      watches,
      ({ heardMsAgo }) => (heardMsAgo === undefined ? undefined : heardMsAgo / 1_000),
    );
    this.#counter("azlb_watch_events_total", "Changes received.", "resource", watches, (all) => all.events);
    this.#counter(
      "azlb_watch_unchanged_total",
      "Changes received in which nothing differs that the controller reads.",
      "resource",
      watches,
      (all) => all.unchanged,
    );
    this.#counter(
      "azlb_watch_lists_total",
      "Complete lists. One is normal; each further one follows an expired or unreadable watch.",
      "resource",
      watches,
      (all) => all.lists,
    );
    this.#restarts();
    this.#counter(
      "azlb_watch_handler_errors_total",
      "Changes that the controller failed to read or to handle.",
      "resource",
      watches,
      (all) => all.subscriberErrors,
    );
  }

  #restarts(): void {
    const counter: Counter<"resource" | "reason"> = new Counter({
      name: "azlb_watch_restarts_total",
      help: "Watches that ended, by reason: ended by the server, version expired, silent, failed otherwise.",
      labelNames: ["resource", "reason"],
      registers: [this.#registry],
      collect: () => {
        counter.reset();
        for (const [resource, watch] of this.#watches) {
          const { cleanEnds, expired, silences, failures } = watch.stats();
          const reasons = { ended: cleanEnds, expired, silent: silences, failed: failures - silences };
          for (const [reason, count] of Object.entries(reasons)) counter.inc({ resource, reason }, count);
        }
      },
    });
  }

  /** A figure that is not known yet is left out. */
  #gauge<Stats>(
    name: string,
    help: string,
    label: "name" | "resource",
    all: ReadonlyMap<string, Counted<Stats>>,
    figure: Figure<Stats>,
  ): void {
    const collect = (): void => {
      for (const [key, counted] of all) {
        const value = figure(counted.stats());
        if (value !== undefined) gauge.set({ [label]: key }, value);
      }
    };
    const gauge = new Gauge({ name, help, labelNames: [label], registers: [this.#registry], collect });
  }

  #counter<Stats>(
    name: string,
    help: string,
    label: "name" | "resource",
    all: ReadonlyMap<string, Counted<Stats>>,
    figure: Figure<Stats>,
  ): void {
    const collect = (): void => {
      counter.reset();
      for (const [key, counted] of all) counter.inc({ [label]: key }, figure(counted.stats()) ?? 0);
    };
    const counter = new Counter({ name, help, labelNames: [label], registers: [this.#registry], collect });
  }
}
