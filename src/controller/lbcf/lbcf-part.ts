/**
 * Runs LBCF (lb-controlling-framework) once its CRDs are installed. The controller checks for them at its start and every
 * minute, so that they may be installed later; a cluster without them costs one request a minute.
 */
import type { GroupCommit } from "../../azure/group-commit/group-commit.ts";
import type { Mirror } from "../../azure/cache/mirror.ts";
import type { Clock, Random, Timer } from "../../core/util/clock.ts";
import type { ClusterConfig } from "../../core/config/cluster-config.ts";
import type { DeregistrationLimit } from "../../core/lbcf/groups/deregistration-limit.ts";
import type { StaticAddresses } from "../../core/lbcf/azure/static-addresses.ts";
import type { RetryPolicy } from "../../core/lbcf/drivers/retry.ts";
import type { Log } from "../../core/util/log.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import type { Fence } from "../../kube/election/lease.ts";
import type { KubeClient } from "../../kube/client/kube-client.ts";
import { unlessGone } from "../../kube/client/kube-failure.ts";
import type { ClusterCache } from "../cluster-cache.ts";
import type { Metrics } from "../metrics.ts";
import { assembleLbcf, type LbcfParts } from "./assemble-lbcf.ts";
import { BACKEND_RECORDS } from "./objects/resources.ts";
import type { WebhookTransport } from "./drivers/webhook-client.ts";
import { errorText } from "../../core/util/text.ts";

export interface LbcfOptions {
  /** How webhook drivers are reached. */
  readonly webhooks: WebhookTransport;
  /** `static` addresses that may enter pools of `lbcf-azure`; none by default. */
  readonly staticAddresses?: StaticAddresses | undefined;
  readonly retries?: RetryPolicy;
  readonly deregistrationLimit?: DeregistrationLimit;
  readonly healthEveryMs?: number;
  /** How often to check for the CRDs. */
  readonly lookEveryMs?: number;
}

export interface LbcfPartOptions extends LbcfOptions {
  readonly config: ClusterConfig;
  /** For reads; `fenced` is for writes. */
  readonly kube: KubeClient;
  readonly fenced: KubeClient;
  readonly cache: ClusterCache;
  readonly commit: GroupCommit;
  readonly mirror: Mirror;
  readonly recorder: EventRecorder;
  readonly metrics: Metrics;
  /** Drivers, too, are called only while the lease is held. */
  readonly fence: Fence;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

const LOOK_EVERY_MS = 60_000;

export class LbcfPart {
  readonly #options: LbcfPartOptions;
  readonly #ending = new AbortController();
  #timer: Timer | undefined;
  #parts: LbcfParts | undefined;
  #running: Promise<void> | undefined;
  #complaint = "";

  constructor(options: LbcfPartOptions) {
    this.#options = options;
  }

  /** Resolves once LBCF runs, or its CRDs are known to be missing. The cluster's own caches must be synced. */
  async start(): Promise<void> {
    const { clock, lookEveryMs = LOOK_EVERY_MS } = this.#options;
    try {
      if (await this.#isInstalled()) return await this.#begin();
    } catch (error) {
      this.#complain(errorText(error));
    }
    if (!this.#ending.signal.aborted) this.#timer = clock.setTimer(lookEveryMs, () => void this.start());
  }

  get isRunning(): boolean {
    return this.#parts !== undefined;
  }

  async stop(patienceMs: number): Promise<void> {
    this.#timer?.cancel();
    this.#ending.abort(new Error("the controller stops"));
    await Promise.all((this.#parts?.loops ?? []).map((loop) => loop.stop(patienceMs)));
    await this.#running;
  }

  /** See `BackendAdminStates`. */
  down(node: string): Promise<readonly string[] | undefined> {
    return this.#parts?.states.down(node) ?? Promise.resolve([]);
  }

  /** Sets admin states again. */
  resync(): void {
    void this.#parts?.states.sync("resync");
  }

  /** Logs a message once, not every minute. */
  #complain(message: string): void {
    if (this.#ending.signal.aborted || message === this.#complaint) return;
    this.#complaint = message;
    this.#options.log.warn(`cannot see whether LBCF is installed: ${message}`);
  }

  async #isInstalled(): Promise<boolean> {
    const pages = this.#options.kube.listPages(BACKEND_RECORDS, {}, this.#ending.signal, 1);
    return (await unlessGone(() => pages.next())) !== undefined;
  }

  async #begin(): Promise<void> {
    const parts = assembleLbcf(this.#options);
    this.#running = parts.cache.run(this.#ending.signal);
    await Promise.race([parts.cache.synced, this.#running]);
    if (this.#ending.signal.aborted) return;
    this.#parts = parts;
    parts.watchHandlers.start();
    for (const loop of parts.loops) loop.start();
    void parts.states.sync("resync");
    this.#options.log.info("LBCF enabled: the CRDs of lbcf.tkestack.io are installed");
  }
}
