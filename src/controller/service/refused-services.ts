/**
 * Services that cannot be served for now, and the looks at them that a change of another Service causes. Which of them wait
 * for others is decided by `core/service/wake-refused.ts`.
 *
 * A look that was caused so believes what is known of Azure: the controller's own writes are in it, and what other clients
 * have made is found by the look that is due `DELAY.refusedMs` after the refusal, which no other look puts off.
 */
import { DELAY } from "../../core/retry.ts";
import type { Clock, Timer } from "../../core/util/clock.ts";

/** A Service that went may have freed a quota, too. */
type Cause = "changed" | "gone";

interface Refused {
  /** `never`: it is looked at when it is due. */
  readonly wokenBy: "changed" | "gone" | "never";
  /** When Azure is read anew for it. */
  readonly dueMs: number;
  isWoken: boolean;
  /** It was refused as it is now. */
  readonly isStanding: boolean;
}

export class RefusedServices {
  readonly #clock: Clock;
  readonly #look: (key: string) => void;
  readonly #refused = new Map<string, Refused>();
  #timer: Timer | undefined;
  #cause: Cause = "changed";

  constructor(clock: Clock, look: (key: string) => void) {
    this.#clock = clock;
    this.#look = look;
  }

  get isEmpty(): boolean {
    return this.#refused.size === 0;
  }

  /** Whether it was refused before, and has asked for the same since. */
  isStanding(key: string): boolean {
    return this.#refused.get(key)?.isStanding === true;
  }

  /** It is refused; answers after how long Azure is read anew for it. */
  refused(key: string, waitsForServices: boolean): number {
    const nowMs = this.#clock.monotonicMs();
    const before = this.#refused.get(key);
    const dueMs = before !== undefined && before.dueMs > nowMs ? before.dueMs : nowMs + DELAY.refusedMs;
    this.#refused.set(key, {
      wokenBy: waitsForServices ? "changed" : "never",
      dueMs,
      isWoken: false,
      isStanding: true,
    });
    return dueMs - nowMs;
  }

  /** It failed for want of something that another Service may free; its retry is the caller's. */
  failed(key: string): void {
    this.#refused.set(key, { wokenBy: "gone", dueMs: this.#clock.monotonicMs(), isWoken: false, isStanding: false });
  }

  forget(key: string): void {
    this.#refused.delete(key);
  }

  /** It changed itself, perhaps in what it asks for: the next look reads Azure anew before it is refused. */
  changed(key: string, asksAnew: boolean): void {
    const refused = this.#refused.get(key);
    if (refused === undefined) return;
    const isStanding = refused.isStanding && !asksAnew;
    this.#refused.set(key, { ...refused, isWoken: false, isStanding, dueMs: 0 });
  }

  /** Whether the look that begins was caused by another Service alone. */
  takeWoken(key: string): boolean {
    const refused = this.#refused.get(key);
    if (refused === undefined) return false;
    const { isWoken } = refused;
    refused.isWoken = false;
    return isWoken && refused.dueMs > this.#clock.monotonicMs();
  }

  /** Another Service has changed, was written, or went. */
  wake(cause: Cause): void {
    if (this.#refused.size === 0) return;
    if (cause === "gone") this.#cause = cause;
    const afterMs = Math.max(DELAY.wakeRefusedMs, DELAY.wakePerRefusedMs * this.#refused.size);
    this.#timer ??= this.#clock.setTimer(afterMs, () => this.#lookAtAll());
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #lookAtAll(): void {
    const cause = this.#cause;
    this.#timer = undefined;
    this.#cause = "changed";
    for (const [key, refused] of this.#refused) {
      if (refused.wokenBy === "never" || (refused.wokenBy === "gone" && cause !== "gone")) continue;
      refused.isWoken = true;
      this.#look(key);
    }
  }
}
