/**
 * What Azure's limits leave: the throttle budget, and the quotas of load balancers and of the security group. Both are known
 * elsewhere (`azure/budget`, `core/view/balancers.ts`) and read when the metrics are served; quotas only where this process
 * leads.
 */
import { Gauge, type Registry } from "prom-client";

import type { ShownGate } from "../azure/budget/budget.ts";
import type { QuotaOf } from "../core/view/balancers.ts";

/** A bucket of calls, with where it is. */
export interface GateOf extends ShownGate {
  readonly subscription: string;
  readonly calls: string;
}

export interface LimitSource {
  readonly gates: () => readonly GateOf[];
  readonly quotas: () => readonly QuotaOf[];
}

export class LimitMetrics {
  readonly #registry: Registry;
  #source: LimitSource = { gates: () => [], quotas: () => [] };

  constructor(registry: Registry) {
    this.#registry = registry;
    this.#gate("azlb_arm_tokens", "Calls to Azure that may leave at once, as estimated.", ({ tokens }) => tokens);
    this.#gate("azlb_arm_tokens_limit", "The most calls to Azure that may ever leave at once.", ({ size }) => size);
    this.#gate(
      "azlb_arm_waiting_requests",
      "Calls to Azure that wait for the throttle budget.",
      ({ waiting }) => waiting,
    );
    this.#gate(
      "azlb_arm_closed_seconds",
      "For how long Azure has told to wait; 0: not at all.",
      ({ closedForMs }) => closedForMs / 1_000,
    );
    this.#quota("azlb_quota_used", "How much of a limit of Azure is used.", ({ used }) => used);
    this.#quota("azlb_quota_limit", "Azure's limit, or that of the cloud config.", ({ most }) => most);
  }

  watch(source: LimitSource): void {
    this.#source = source;
  }

  #gate(name: string, help: string, figure: (gate: GateOf) => number): void {
    const gauge: Gauge<"subscription" | "calls"> = new Gauge({
      name,
      help,
      labelNames: ["subscription", "calls"],
      registers: [this.#registry],
      collect: () => {
        for (const gate of this.#source.gates()) {
          const { subscription, calls } = gate;
          gauge.set({ subscription, calls }, figure(gate));
        }
      },
    });
  }

  /** Load balancers come and go: one that is gone is told no more. */
  #quota(name: string, help: string, figure: (quota: QuotaOf) => number): void {
    const gauge: Gauge<"resource" | "quota"> = new Gauge({
      name,
      help,
      labelNames: ["resource", "quota"],
      registers: [this.#registry],
      collect: () => {
        gauge.reset();
        for (const quota of this.#source.quotas()) gauge.set({ resource: quota.in, quota: quota.of }, figure(quota));
      },
    });
  }
}
