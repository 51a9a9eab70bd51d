/** LBCF's metrics under their original names, without a prefix, so that existing dashboards work. */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";

import type { QueueStats } from "../../kube/work-queue.ts";

const SECONDS = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30];

type Queues = Readonly<Record<string, { stats(): QueueStats }>>;

export class LbcfMetrics {
  readonly #registry: Registry;
  readonly calls: Counter<"driver_name" | "webhook_name">;
  /** Calls without a usable answer. */
  readonly errors: Counter<"driver_name" | "webhook_name">;
  /** Calls that the driver answered with a failure. */
  readonly fails: Counter<"driver_name" | "webhook_name">;
  readonly latency: Histogram<"driver_name" | "webhook_name">;
  readonly operations: Histogram<"k8s_op_obj" | "k8s_op_type">;
  readonly keys: Histogram<"crd">;
  readonly confirmations: Counter;

  constructor(registry: Registry) {
    this.#registry = registry;
    const registers = [registry];
    const webhook = ["driver_name", "webhook_name"] as const;
    this.calls = new Counter({ name: "webhook_calls", help: "Calls of drivers.", labelNames: webhook, registers });
    this.errors = new Counter({
      name: "webhook_errors",
      help: "Calls of drivers without a usable answer.",
      labelNames: webhook,
      registers,
    });
    this.fails = new Counter({
      name: "webhook_fails",
      help: "Calls that drivers answered with a failure.",
      labelNames: webhook,
      registers,
    });
    this.latency = new Histogram({
      name: "webhook_latency",
      help: "How long drivers took to answer, in seconds.",
      labelNames: webhook,
      buckets: SECONDS,
      registers,
    });
    this.operations = new Histogram({
      name: "k8s_operation_latency",
      help: "How long writes to the API server took, in seconds.",
      labelNames: ["k8s_op_obj", "k8s_op_type"],
      buckets: SECONDS,
      registers,
    });
    this.keys = new Histogram({
      name: "key_process_latency",
      help: "How long one look at one object took, in seconds.",
      labelNames: ["crd"],
      buckets: SECONDS,
      registers,
    });
    this.confirmations = new Counter({
      name: "azlb_lbcf_brakes_total",
      help: "Times that so many backends of a group vanished at once that the API server was asked again.",
      registers,
    });
  }

  /** The gauges read the queues when they are scraped. */
  watchQueues(queues: Queues): void {
    this.#gauge("pending_key", "Objects that wait to be looked at.", queues, (each) => each.queued + each.delayed);
    this.#gauge("working_key", "Objects that are being looked at.", queues, (each) => each.running);
  }

  #gauge(name: string, help: string, queues: Queues, figure: (stats: QueueStats) => number): void {
    this.#registry.removeSingleMetric(name);
    const gauge: Gauge<"key_kind"> = new Gauge({
      name,
      help,
      labelNames: ["key_kind"],
      registers: [this.#registry],
      collect: () => {
        for (const [kind, queue] of Object.entries(queues)) gauge.set({ key_kind: kind }, figure(queue.stats()));
      },
    });
  }
}
