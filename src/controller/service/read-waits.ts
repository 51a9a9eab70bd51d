/**
 * Which Services wait because Azure throttles reads. Reads are shared (`azure/cache`), so a 429 says nothing about whose
 * they are: a Service that looks at Azure while reads are held back, and is not done within a moment, waits for them. What
 * it is told is decided by the caller.
 */
import type { Service } from "../../core/model/kubernetes.ts";
import type { Clock } from "../../core/util/clock.ts";
import type { ServiceObserver } from "./cloud-load-balancer.ts";

/** What is known already is looked at in less. */
const MOMENT_MS = 1_000;

/** Called with the time that is left. */
type Tell = (waitMs: number) => void;

export class ReadWaits {
  readonly #clock: Clock;
  /** Of those that look at Azure now. */
  readonly #looking = new Set<Tell>();
  #heldUntilMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Azure has told a read to wait. */
  held(waitMs: number): void {
    this.#heldUntilMs = Math.max(this.#heldUntilMs, this.#clock.monotonicMs() + waitMs);
    for (const tell of this.#looking) this.#tellLater(tell);
  }

  /** The same observer; `tell`: for each time that a look at a Service was told to wait. */
  watching(observer: ServiceObserver, tell: (service: Service, waitMs: number) => void): ServiceObserver {
    return {
      observe: (service, needs, signal) =>
        this.during(
          () => observer.observe(service, needs, signal),
          (waitMs) => tell(service, waitMs),
        ),
      refresh: (kind) => observer.refresh(kind),
    };
  }

  /** `tell`: for each time that reads were told to wait during the look. */
  async during<Seen>(look: () => Promise<Seen>, tell: Tell): Promise<Seen> {
    const own: Tell = (waitMs) => tell(waitMs); // two looks may share a function
    this.#looking.add(own);
    if (this.#heldUntilMs > this.#clock.monotonicMs()) this.#tellLater(own);
    try {
      return await look();
    } finally {
      this.#looking.delete(own);
    }
  }

  #tellLater(tell: Tell): void {
    const timer = this.#clock.setTimer(MOMENT_MS, () => {
      timer.cancel();
      const leftMs = this.#heldUntilMs - this.#clock.monotonicMs();
      if (leftMs > 0 && this.#looking.has(tell)) tell(leftMs);
    });
  }
}
