/**
 * What the controller counts, in Prometheus' form. Names that the incumbent's users have on their dashboards are kept;
 * a Service's name is never a label (their number has no bound).
 */
import { Counter, Gauge, Histogram, Registry } from "prom-client";

import { LimitMetrics } from "./limit-metrics.ts";
import { LoopMetrics } from "./loop-metrics.ts";
import { ServiceStates } from "./service-states.ts";

const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

export class Metrics {
  readonly registry = new Registry();
  /** Of work queues and watches. */
  readonly loops = new LoopMetrics(this.registry);
  readonly serviceStates = new ServiceStates(this.registry);
  /** Of throttling and quotas. */
  readonly limits = new LimitMetrics(this.registry);
  readonly buildInfo = this.#gauge("azlb_build_info", "1, with the versions of azlb and of Node as labels.", [
    "version",
    "node_version",
  ]);

  readonly leader = this.#gauge("azlb_leader", "1 while this process leads, 0 while it waits for the Lease.", []);
  readonly syncs = this.#counter("service_controller_loadbalancer_sync_total", "Services synced, by outcome.", [
    "outcome",
  ]);
  readonly operationSeconds = this.#histogram(
    "cloudprovider_azure_op_duration_seconds",
    "How long one verb took for one Service.",
    ["request"],
  );
  readonly operationFailures = this.#counter("cloudprovider_azure_op_failure_count", "Verbs that failed.", ["request"]);
  readonly armSeconds = this.#histogram("arm_request_duration_seconds", "Requests to Azure.", ["resource", "method"]);
  readonly armErrors = this.#counter("arm_request_errors_counter_total", "Requests that Azure refused.", [
    "resource",
    "method",
    "status_code",
    "error_code",
  ]);
  readonly armWaitSeconds = this.#histogram(
    "azlb_arm_wait_seconds",
    "How long requests to Azure waited for the throttle budget.",
    ["priority"],
  );
  readonly lockWaitSeconds = this.#histogram(
    "azlb_resource_lock_wait_seconds",
    "How long writes waited for the resource lock that other controllers hold; drains do not wait for it.",
    [],
  );
  readonly armThrottledSeconds = this.#counter(
    "azlb_arm_throttled_seconds_total",
    "Waits that Azure asked for with 429, each capped at five minutes.",
    ["resource", "method"],
  );
  readonly kubeSeconds = this.#histogram("azlb_kube_request_duration_seconds", "Requests to the API server.", [
    "resource",
    "method",
  ]);
  readonly kubeErrors = this.#counter(
    "azlb_kube_request_errors_total",
    "Requests that the API server refused or did not answer (status_code 0).",
    ["resource", "method", "status_code"],
  );
  readonly batchSize = this.#histogram(
    "azlb_group_commit_fragments",
    "Fragments that left in one write.",
    ["kind"],
    [1, 2, 5, 10, 20, 50, 100, 200, 500],
  );
  readonly conflicts = this.#counter("azlb_group_commit_conflicts_total", "Writes merged anew, by reason.", ["reason"]);
  readonly configRefused = this.#gauge(
    "azlb_cloud_config_refused",
    "1 while the cloud config that is there is invalid or cannot be applied, and the one before is in force.",
    [],
  );
  readonly drift = this.#gauge("azlb_drifted_services", "Services whose Azure side differs from what they ask for.", [
    "policy",
  ]);
  readonly withheld = this.#gauge(
    "azlb_brake_withheld",
    "What the brake withholds: Services that would lose addresses, and members that would leave pools.",
    ["what"],
  );
  readonly drainSeconds = this.#histogram(
    "loadbalancer_adminstate_latency_seconds",
    "From a taint seen to the admin state accepted by Azure.",
    ["state"],
    [0.005, 0.025, 0.1, 0.5, 1, 2, 5, 10, 30],
  );
  readonly drainErrors = this.#counter("loadbalancer_adminstate_errors_total", "Admin states that could not be set.", [
    "kind",
  ]);
  readonly drainThrottled = this.#counter(
    "loadbalancer_adminstate_throttled_total",
    "Admin-state writes that Azure made wait.",
    [],
  );
  readonly drainingNodes = this.#gauge("loadbalancer_adminstate_draining_nodes", "Nodes held Down, by reason.", [
    "reason",
  ]);

  readonly noticeLeft = this.#histogram(
    "loadbalancer_adminstate_eviction_notice_left_seconds",
    "Time from Down in effect in every pool to the eviction that was announced; negative: too late.",
    [],
    [-60, -10, -5, 0, 5, 10, 15, 20, 25, 30, 60, 300],
  );
  readonly evictions = this.#counter(
    "loadbalancer_adminstate_evictions_total",
    "Announced evictions: Down in effect in every pool in_time, or too_late.",
    ["outcome"],
  );

  readonly events = this.#counter("azlb_events_total", "Events, by what became of them.", ["outcome"]);

  constructor() {
    // one that appears only with its first value has no increase that Prometheus could see
    for (const outcome of ["in_time", "too_late"]) this.evictions.inc({ outcome }, 0);
  }

  #counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  #gauge<L extends string>(name: string, help: string, labelNames: readonly L[]): Gauge<L> {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }

  #histogram<L extends string>(name: string, help: string, labelNames: readonly L[], buckets = SECONDS): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
  }
}
