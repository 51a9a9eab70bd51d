/**
 * Tells people what happened to an object, as a core/v1 Event on it. Telling is never the work itself: `record`
 * returns at once and cannot fail, a slow or broken server costs at most some events, and what piles up is bounded.
 */
import type { Clock, Random } from "../../core/util/clock.ts";
import { backoffMs } from "../client/backoff.ts";
import { EventCorrelator, type Happening, type Tally } from "./event-correlator.ts";
import type { KubeClient } from "../client/kube-client.ts";
import { isFailure } from "../client/kube-failure.ts";
import { EVENTS, type KubeObject } from "../client/resources.ts";

export interface EventRecorderOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  /** Who speaks: `azlb`. */
  readonly component: string;
  /** An event was given up, for logs. */
  readonly onProblem?: (error: unknown) => void;
}

/** The event that a tally is written to. */
interface Stored {
  readonly name: string;
  created: boolean;
}

const MOST_WAITING = 1_000;
const LONGEST_MESSAGE = 1_024;
const ATTEMPTS = 4;
const BACKOFF = { firstMs: 1_000, capMs: 30_000 };

export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #correlator = new EventCorrelator();
  /** Tallies to be written, each once, however often it grew since. */
  readonly #waiting = new Set<Tally>();
  readonly #stored = new WeakMap<Tally, Stored>();
  readonly #stats = { written: 0, suppressed: 0, givenUp: 0 };
  #pump: Promise<void> | undefined;
  #names = 0n;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  record(happening: Happening): void {
    const tally = this.#correlator.observe(happening, this.#options.clock.nowMs());
    if (tally === undefined || (!this.#waiting.has(tally) && this.#waiting.size >= MOST_WAITING)) {
      this.#stats.suppressed += 1;
      return;
    }
    this.#waiting.add(tally);
    this.#pump ??= this.#writeAll();
  }

  /** Resolves once nothing waits to be written. */
  flushed(): Promise<void> {
    return this.#pump ?? Promise.resolve();
  }

  stats(): Readonly<{ written: number; suppressed: number; givenUp: number }> {
    return { ...this.#stats };
  }

  async #writeAll(): Promise<void> {
    await Promise.resolve(); // what happens in the same breath is told in one write
    for (const tally of this.#waiting) {
      this.#waiting.delete(tally);
      await this.#write(tally);
    }
    this.#pump = undefined;
  }

  async #write(tally: Tally): Promise<void> {
    const { clock, random, onProblem } = this.#options;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        await this.#createOrRaise(tally);
        this.#stats.written += 1;
        return;
      } catch (error) {
        const hopeless = !isFailure(error, "transient", "throttled") || attempt === ATTEMPTS - 1;
        if (hopeless) {
          this.#stats.givenUp += 1;
          onProblem?.(error);
          return;
        }
        await clock.sleep(Math.max(backoffMs(BACKOFF, attempt, random), error.retryAfterMs ?? 0));
      }
    }
  }

  async #createOrRaise(tally: Tally): Promise<void> {
    const { client } = this.#options;
    const namespace = tally.about.namespace ?? "default";
    const stored = this.#stored.get(tally) ?? { name: this.#newName(tally), created: false };
    this.#stored.set(tally, stored);
    try {
      if (stored.created) {
        await client.patch<KubeObject>(EVENTS, { namespace, name: stored.name }, { strategic: this.#changing(tally) });
        return;
      }
    } catch (error) {
      if (!isFailure(error, "notFound")) throw error; // events live for an hour: then it is made again
    }
    try {
      await client.create<KubeObject>(EVENTS, this.#body(tally, stored.name, namespace));
    } catch (error) {
      if (!isFailure(error, "alreadyExists")) throw error; // an earlier attempt arrived, only its answer did not
    }
    stored.created = true;
  }

  #changing(tally: Tally): { count: number; lastTimestamp: string; message: string } {
    return { count: tally.count, lastTimestamp: seconds(tally.lastMs), message: shortened(tally.message) };
  }

  #body(tally: Tally, name: string, namespace: string) {
    const { component } = this.#options;
    return {
      metadata: { name, namespace },
      involvedObject: tally.about,
      type: tally.type,
      reason: tally.reason,
      source: { component },
      reportingComponent: component,
      firstTimestamp: seconds(tally.firstMs),
      ...this.#changing(tally),
    };
  }

  /** `object.hex`, where the number is the time in nanoseconds, made unique. */
  #newName({ about }: Tally): string {
    this.#names += 1n;
    const nanos = BigInt(Math.trunc(this.#options.clock.nowMs())) * 1_000_000n + (this.#names % 1_000_000n);
    return `${about.name.slice(0, 230)}.${nanos.toString(16)}`;
  }
}

function seconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function shortened(message: string): string {
  return message.length <= LONGEST_MESSAGE ? message : `${message.slice(0, LONGEST_MESSAGE - 1)}…`;
}
