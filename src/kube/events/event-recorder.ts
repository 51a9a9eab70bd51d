/**
 * Writes what happened to an object as a core/v1 Event on it. Events never hold up the work: `record` returns at once
 * and cannot fail, a slow or broken API server costs at most some events, and the queue of unwritten ones is bounded.
 */
import type { Clock, Random } from "../../core/util/clock.ts";
import { backoffMs } from "../client/backoff.ts";
import { EventCorrelator, type ObjectEvent, type Tally } from "./event-correlator.ts";
import type { KubeClient } from "../client/kube-client.ts";
import { isFailure } from "../client/kube-failure.ts";
import { EVENTS, type KubeObject } from "../client/resources.ts";

export interface EventRecorderOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  /** The source that users see: `azlb`. */
  readonly component: string;
  /** An event was given up, for logs. */
  readonly onProblem?: (error: unknown) => void;
  /** What became of each, for metrics. */
  readonly onOutcome?: (outcome: EventOutcome) => void;
}

/** `suppressed`: the object has too many events, or too many wait to be written. */
export type EventOutcome = "written" | "suppressed" | "given_up";

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
  /** Tallies to be written, each once, however often it grew since; and what to call if that is given up. */
  readonly #waiting = new Map<Tally, readonly (() => void)[]>();
  readonly #stored = new WeakMap<Tally, Stored>();
  #pump: Promise<void> | undefined;
  #names = 0n;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  /** `onMissed`: the API server was in trouble for so long that the event was given up. A refused event is not worth another. */
  record(event: ObjectEvent, onMissed?: () => void): void {
    const tally = this.#correlator.observe(event, this.#options.clock.nowMs());
    if (tally === undefined || (!this.#waiting.has(tally) && this.#waiting.size >= MOST_WAITING)) {
      this.#options.onOutcome?.("suppressed");
      return;
    }
    this.#waiting.set(tally, [...(this.#waiting.get(tally) ?? []), ...(onMissed === undefined ? [] : [onMissed])]);
    this.#pump ??= this.#writeAll();
  }

  /** Resolves once nothing waits to be written. */
  flushed(): Promise<void> {
    return this.#pump ?? Promise.resolve();
  }

  async #writeAll(): Promise<void> {
    await Promise.resolve(); // what is recorded in the same turn is one write
    for (const [tally, onMissed] of this.#waiting) {
      this.#waiting.delete(tally);
      if ((await this.#write(tally)) === "missed") for (const call of onMissed) call();
    }
    this.#pump = undefined;
  }

  async #write(tally: Tally): Promise<"written" | "refused" | "missed"> {
    const { clock, random, onProblem, onOutcome } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#createOrRaise(tally);
        onOutcome?.("written");
        return "written";
      } catch (error) {
        // a conflict passes too: no version of the event was asked for
        const passes = isFailure(error, "transient", "throttled", "conflict");
        if (!passes || attempt === ATTEMPTS) {
          onOutcome?.("given_up");
          onProblem?.(error);
          return passes ? "missed" : "refused";
        }
        await clock.sleep(Math.max(backoffMs(BACKOFF, attempt - 1, random), error.retryAfterMs ?? 0));
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
