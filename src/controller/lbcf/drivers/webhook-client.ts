/**
 * Calls one driver's webhooks: a timeout per hook, a slot for each call (`call-slots.ts`), LBCF's metrics. What is sent
 * and what an answer means is `webhook-driver.ts`'s.
 */
import type { Driver } from "../../../core/lbcf/objects/objects.ts";
import type { Reply } from "../../../core/lbcf/drivers/webhook-answers.ts";
import { DEFAULT_TIMEOUT_MS, type Hook } from "../../../core/lbcf/drivers/webhook-protocol.ts";
import type { Clock } from "../../../core/util/clock.ts";
import type { LbcfMetrics } from "../lbcf-metrics.ts";
import type { CallSlots } from "./call-slots.ts";

export interface WebhookCall {
  readonly url: string;
  /** JSON. */
  readonly body: string;
  readonly timeoutMs: number;
  /** PEM; trusted in addition to the well-known authorities. */
  readonly ca: string | undefined;
}

/** POSTs JSON and limits the size of the answer. Throws when there is no answer; any HTTP status is an answer. */
export type WebhookTransport = (call: WebhookCall) => Promise<Reply>;

export interface WebhookClientOptions {
  readonly driver: Driver;
  readonly transport: WebhookTransport;
  /** Shared by all drivers. */
  readonly slots: CallSlots;
  readonly metrics: LbcfMetrics;
  readonly clock: Clock;
}

/** What they are about must not wait behind registrations. */
const URGENT: readonly Hook[] = ["deregisterBackend", "judgePodDeregister"];

export class WebhookClient {
  readonly #options: WebhookClientOptions;
  readonly #name: string;

  constructor(options: WebhookClientOptions) {
    this.#options = options;
    const { namespace, name } = options.driver.metadata;
    this.#name = `${namespace}/${name}`;
  }

  /** Counted, measured and limited. */
  async call(hook: Hook, request: object): Promise<Reply> {
    const { clock, metrics } = this.#options;
    return this.#inSlot(hook, this.#name, async () => {
      this.count("calls", hook);
      const startMs = clock.monotonicMs();
      try {
        return await this.#post(hook, request);
      } catch (error) {
        this.count("errors", hook);
        throw error;
      } finally {
        const seconds = (clock.monotonicMs() - startMs) / 1_000;
        metrics.latency.observe({ driver_name: this.#name, webhook_name: hook }, seconds);
      }
    });
  }

  /** Without metrics, and in a slot that no other call of the driver takes. */
  probe(): Promise<Reply> {
    return this.#inSlot("healthz", `${this.#name} healthz`, () => this.#post("healthz", {}));
  }

  #inSlot<T>(hook: Hook, driver: string, work: () => Promise<T>): Promise<T> {
    const { namespace } = this.#options.driver.metadata;
    return this.#options.slots.run({ namespace, driver, isUrgent: URGENT.includes(hook) }, work);
  }

  #post(hook: Hook, request: object): Promise<Reply> {
    const { spec } = this.#options.driver;
    return this.#options.transport({
      url: `${spec.url.replace(/\/+$/, "")}/${hook}`,
      body: JSON.stringify(request),
      timeoutMs: spec.timeoutsMs[hook] ?? DEFAULT_TIMEOUT_MS,
      ca: spec.caBundle === undefined ? undefined : atob(spec.caBundle),
    });
  }

  count(what: "calls" | "errors" | "fails", hook: Hook): void {
    this.#options.metrics[what].inc({ driver_name: this.#name, webhook_name: hook });
  }
}
