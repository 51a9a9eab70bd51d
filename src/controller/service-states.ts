/**
 * How many Services are in which state, and how long the one has waited that waits longest, for `/metrics`. The service
 * controller tells the states; a new leadership term begins with none.
 */
import { Gauge, type Registry } from "prom-client";

import type { Clock } from "../core/util/clock.ts";

const STATES = ["served", "pending", "failing", "refused"] as const;
export type ServiceState = (typeof STATES)[number];

interface Tracked {
  readonly state: ServiceState;
  /** Since when it is not served. */
  readonly sinceMs: number;
}

export class ServiceStates {
  readonly #services = new Map<string, Tracked>();
  #clock: Pick<Clock, "monotonicMs"> | undefined;

  constructor(registry: Registry) {
    const registers = [registry];
    const count: Gauge<"state"> = new Gauge({
      name: "azlb_services",
      help: "Services to be served, by state: served, pending, failing (retried), refused (the user must change something).",
      labelNames: ["state"],
      registers,
      collect: () => {
        const tracked = [...this.#services.values()];
        for (const state of STATES) count.set({ state }, tracked.filter((each) => each.state === state).length);
      },
    });
    const oldest: Gauge = new Gauge({
      name: "azlb_oldest_unserved_service_seconds",
      help: "For how long the Service has waited that is pending or failing for longest; 0 where there is none.",
      registers,
      collect: () => oldest.set(this.#oldestMs() / 1000),
    });
  }

  /** Forgets all: another term begins. */
  begin(clock: Pick<Clock, "monotonicMs">): void {
    this.#clock = clock;
    this.#services.clear();
  }

  /** A Service is to be served; one that is known keeps its state. */
  add(key: string): void {
    if (!this.#services.has(key)) this.note(key, "pending");
  }

  note(key: string, state: ServiceState): void {
    const before = this.#services.get(key);
    const isWaiting = before !== undefined && before.state !== "served";
    this.#services.set(key, { state, sinceMs: isWaiting ? before.sinceMs : this.#nowMs() });
  }

  forget(key: string): void {
    this.#services.delete(key);
  }

  #oldestMs(): number {
    const waiting = [...this.#services.values()].filter(({ state }) => state === "pending" || state === "failing");
    return waiting.reduce((oldest, { sinceMs }) => Math.max(oldest, this.#nowMs() - sinceMs), 0);
  }

  #nowMs(): number {
    return this.#clock?.monotonicMs() ?? 0;
  }
}
