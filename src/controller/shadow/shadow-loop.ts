/**
 * When the shadow predicts and when it looks at Azure: it predicts soon after a change in Kubernetes, looks often while a
 * change is under way and seldom otherwise. Where Azure throttles it gives up the look and stays away for at least twice as long as
 * Azure asks for: everything else is more urgent.
 */
import type { Clock, Timer } from "../../core/util/clock.ts";
import type { Log } from "../../core/util/log.ts";
import { errorText } from "../../core/util/text.ts";
import type { ClusterCache } from "../cluster-cache.ts";
import type { ShadowMetrics } from "./shadow-metrics.ts";
import type { Shadow } from "./shadow.ts";

export interface ShadowPace {
  /** Between looks while a change is under way. */
  readonly openMs: number;
  /** Between looks otherwise. */
  readonly idleMs: number;
}

export interface ShadowLoopOptions {
  readonly shadow: Pick<Shadow, "replan" | "look" | "isOpen" | "problem">;
  readonly cache: ClusterCache;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: ShadowMetrics;
  readonly pace: ShadowPace;
}

/** Changes in Kubernetes come in groups. */
const REPLAN_AFTER_MS = 500;
const LEAST_YIELD_MS = 300_000;
/** Timers cannot wait for ever. */
const LONGEST_PAUSE_MS = 86_400_000;

export class ShadowLoop {
  readonly #options: ShadowLoopOptions;
  #lookDueMs = 0;
  #replanDueMs: number | undefined;
  #yieldUntilMs = 0;
  #looking: AbortController | undefined;
  #wake: (() => void) | undefined;

  constructor(options: ShadowLoopOptions) {
    this.#options = options;
  }

  /** Azure has told to wait: the look under way is given up. */
  throttled(waitMs: number): void {
    const { clock, log, metrics } = this.#options;
    const yieldMs = Math.max(LEAST_YIELD_MS, 2 * waitMs);
    this.#yieldUntilMs = Math.max(this.#yieldUntilMs, clock.monotonicMs() + yieldMs);
    if (this.#looking === undefined || this.#looking.signal.aborted) return;
    metrics.looks.inc({ outcome: "throttled" });
    const message = `Azure throttles reads: the shadow stays away for ${Math.ceil(yieldMs / 1000)} s`;
    log.warn(message);
    this.#looking.abort(new Error(message));
  }

  /** Until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { cache } = this.#options;
    await Promise.race([cache.synced, aborted(signal)]);
    if (signal.aborted) return;
    const touch = (): void => this.#touch();
    for (const watched of [cache.services, cache.nodes, cache.memberLists]) watched.subscribe(touch);
    cache.endpointSlices?.subscribe(touch);
    cache.namespaces?.subscribe(touch);
    while (!signal.aborted) {
      await this.#step(signal);
      if (!signal.aborted) await this.#pause(signal);
    }
  }

  #touch(): void {
    this.#replanDueMs ??= this.#options.clock.monotonicMs() + REPLAN_AFTER_MS;
    this.#wake?.();
  }

  async #step(stopping: AbortSignal): Promise<void> {
    const { shadow, clock, log, metrics, pace } = this.#options;
    const nowMs = clock.monotonicMs();
    const isLook = nowMs >= Math.max(this.#lookDueMs, this.#yieldUntilMs);
    if (!isLook && (this.#replanDueMs === undefined || nowMs < this.#replanDueMs)) return;
    this.#replanDueMs = undefined;
    const wasOpen = shadow.isOpen;
    const looking = new AbortController();
    this.#looking = looking;
    const signal = AbortSignal.any([stopping, looking.signal]);
    try {
      await (isLook ? shadow.look(signal) : shadow.replan(signal));
    } catch (error) {
      if (stopping.aborted) return;
      shadow.problem = errorText(error);
      if (!looking.signal.aborted) {
        metrics.looks.inc({ outcome: "failed" });
        log.warn(`the shadow could not look at Azure: ${errorText(error)}`);
      }
    } finally {
      this.#looking = undefined;
    }
    // once more after the end: the incumbent publishes addresses after its last write to Azure
    const afterMs = wasOpen || shadow.isOpen ? pace.openMs : pace.idleMs;
    const dueMs = clock.monotonicMs() + afterMs;
    this.#lookDueMs = isLook ? dueMs : Math.min(this.#lookDueMs, dueMs);
  }

  #pause(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const lookMs = Math.max(this.#lookDueMs, this.#yieldUntilMs);
    const dueMs = Math.min(lookMs, this.#replanDueMs ?? Number.POSITIVE_INFINITY);
    const waitMs = Math.min(LONGEST_PAUSE_MS, Math.max(0, dueMs - clock.monotonicMs()));
    return new Promise((resolve) => {
      let timer: Timer | undefined;
      const go = (): void => {
        timer?.cancel();
        signal.removeEventListener("abort", go);
        this.#wake = undefined;
        resolve();
      };
      timer = clock.setTimer(waitMs, go);
      signal.addEventListener("abort", go);
      this.#wake = go;
    });
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
