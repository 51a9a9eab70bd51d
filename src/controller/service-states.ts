/**
 * How each Service stands: for `/metrics`, which counts them, and for the read-only API, which shows them. The service
 * controller tells the states; a new leadership term begins with none.
 */
import { Gauge, Histogram, type Registry } from "prom-client";

import type { Clock } from "../core/util/clock.ts";
import { SERVICE_STATES, type ServiceState, type Standing, type Told } from "../core/view/standing.ts";

interface Tracked extends Told {
  readonly state: ServiceState;
  /** Of the monotonic clock: since when it is served, or is not. */
  readonly sinceMs: number;
  readonly nextTryMs?: number | undefined;
}

/** From a write of a quiet Azure to one that throttles. */
const WAITS_SECONDS = [1, 2.5, 5, 10, 15, 30, 60, 120, 300, 600, 1_800];

export class ServiceStates {
  readonly #services = new Map<string, Tracked>();
  /** Those that had no address when they were first seen, and were not served since. */
  readonly #new = new Set<string>();
  #clock: Pick<Clock, "monotonicMs" | "nowMs"> | undefined;
  #onChange: () => void = () => {};
  readonly #timeToAddress: Histogram;

  constructor(registry: Registry) {
    const registers = [registry];
    const count: Gauge<"state"> = new Gauge({
      name: "azlb_services",
      help: "Services to be served, by state: served, pending, failing (retried), refused (the user must change something); deleting: what it has in Azure goes.",
      labelNames: ["state"],
      registers,
      collect: () => {
        const tracked = [...this.#services.values()];
        for (const state of SERVICE_STATES) count.set({ state }, tracked.filter((each) => each.state === state).length);
      },
    });
    const oldest: Gauge = new Gauge({
      name: "azlb_oldest_unserved_service_seconds",
      help: "For how long the Service has waited that is pending or failing for longest; 0 where there is none.",
      registers,
      collect: () => oldest.set(this.#oldestMs() / 1000),
    });
    this.#timeToAddress = new Histogram({
      name: "azlb_service_time_to_address_seconds",
      help: "From when a Service without an address was first seen to when it was served.",
      buckets: WAITS_SECONDS,
      registers,
    });
  }

  /** Forgets all: another term begins. */
  begin(clock: Pick<Clock, "monotonicMs" | "nowMs">): void {
    this.#clock = clock;
    this.#services.clear();
    this.#new.clear();
    this.#onChange();
  }

  /** The listener of the API; called after each change. */
  listen(onChange: () => void): void {
    this.#onChange = onChange;
  }

  /** A Service is to be served; one that is known keeps its state. */
  add(key: string, hasAddress: boolean): void {
    const known = this.#services.get(key);
    if (known !== undefined && known.state !== "deleting") return;
    if (!hasAddress) this.#new.add(key);
    this.note(key, "pending");
  }

  /** `afterMs`: until it is looked at again by itself. */
  note(key: string, state: ServiceState, told: Told = {}, afterMs?: number): void {
    const before = this.#services.get(key);
    const goesOn = before !== undefined && phaseOf(before.state) === phaseOf(state);
    const nextTryMs = afterMs === undefined ? undefined : this.#nowMs() + afterMs;
    if (phaseOf(state) !== "waiting" && this.#new.delete(key) && state === "served" && before !== undefined)
      this.#timeToAddress.observe((this.#nowMs() - before.sinceMs) / 1000);
    this.#services.set(key, { ...told, state, sinceMs: goesOn ? before.sinceMs : this.#nowMs(), nextTryMs });
    this.#onChange();
  }

  /** A call for it is held back or will be repeated; its state is the same. */
  held(key: string, told: Told, afterMs: number): void {
    const before = this.#services.get(key);
    if (before === undefined) return;
    const { state, sinceMs, warnings } = before;
    this.#services.set(key, {
      ...(warnings && { warnings }),
      ...told,
      state,
      sinceMs,
      nextTryMs: this.#nowMs() + afterMs,
    });
    this.#onChange();
  }

  forget(key: string): void {
    this.#new.delete(key);
    if (this.#services.delete(key)) this.#onChange();
  }

  /** Of all that are tracked, in time of day. */
  standings(): ReadonlyMap<string, Standing> {
    const ahead = (this.#clock?.nowMs() ?? 0) - this.#nowMs();
    return new Map(
      [...this.#services].map(([key, { sinceMs, nextTryMs, ...rest }]) => [
        key,
        { ...rest, sinceMs: sinceMs + ahead, ...(nextTryMs !== undefined && { nextTryMs: nextTryMs + ahead }) },
      ]),
    );
  }

  #oldestMs(): number {
    const waiting = [...this.#services.values()].filter(({ state }) => state === "pending" || state === "failing");
    return waiting.reduce((oldest, { sinceMs }) => Math.max(oldest, this.#nowMs() - sinceMs), 0);
  }

  #nowMs(): number {
    return this.#clock?.monotonicMs() ?? 0;
  }
}

/** A Service that waits goes on waiting, whatever it waits for. */
function phaseOf(state: ServiceState): string {
  return state === "served" || state === "deleting" ? state : "waiting";
}
