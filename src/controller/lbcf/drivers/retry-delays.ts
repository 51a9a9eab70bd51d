/**
 * When a driver may be asked the same question again. The delay after an unfinished answer holds whatever enqueues the
 * object meanwhile. Another question does not wait: another hook, another spec, another version of the driver's object.
 *
 *   delay                              | ends early when
 *   -----------------------------------|----------------------------------
 *   the driver asked for it            | never
 *   backoff after a failure            | the driver is healthy again
 *
 * Delays are in memory only: after a restart every driver is asked at once.
 */
import type { Answer } from "../../../core/lbcf/drivers/driver-answers.ts";
import { type RetryPolicy, retryDelayMs } from "../../../core/lbcf/drivers/retry.ts";
import type { Clock } from "../../../core/util/clock.ts";
import type { Verdict } from "../../../kube/work-queue.ts";

export interface RetryDelaysOptions {
  readonly clock: Clock;
  readonly retries: RetryPolicy;
}

/** What a driver is asked: about one object, by its key. */
export interface Question {
  readonly object: string;
  /** `namespace/name` of the driver. */
  readonly driver: string;
  /** Equal for equal questions. */
  readonly text: string;
}

interface Delay {
  readonly question: Question;
  readonly failures: number;
  readonly isAsked: boolean;
  readonly untilMs: number;
}

export class RetryDelays {
  readonly #options: RetryDelaysOptions;
  /** By object: the last question that has no final answer. */
  readonly #delays = new Map<string, Delay>();

  constructor(options: RetryDelaysOptions) {
    this.#options = options;
  }

  /** How long to wait before asking; `undefined`: ask now. */
  remainingMs(question: Question): number | undefined {
    const delay = this.#delayOf(question);
    const leftMs = delay === undefined ? 0 : delay.untilMs - this.#options.clock.monotonicMs();
    return leftMs > 0 ? leftMs : undefined;
  }

  /** The requeue after the driver's answer; `undefined` on success: continue with the next step. */
  after(question: Question, answer: Answer): Verdict | undefined {
    const { clock, retries } = this.#options;
    const before = this.#delayOf(question);
    if (answer.status === "Succ") {
      this.#delays.delete(question.object);
      return undefined;
    }
    const isFailure = answer.status !== "Running";
    const failures = before?.failures ?? 0;
    const afterMs = retryDelayMs(answer, failures, retries);
    this.#delays.set(question.object, {
      question,
      failures: isFailure ? failures + 1 : 0,
      isAsked: answer.retryAfterMs !== undefined,
      untilMs: clock.monotonicMs() + afterMs,
    });
    return { kind: isFailure ? "retry" : "again", afterMs };
  }

  /** The driver may answer otherwise now: only what it asked for itself still holds. */
  driverUsable(driver: string): void {
    for (const [object, { question, isAsked }] of this.#delays) {
      if (question.driver === driver && !isAsked) this.#delays.delete(object);
    }
  }

  forget(object: string): void {
    this.#delays.delete(object);
  }

  #delayOf({ object, driver, text }: Question): Delay | undefined {
    const delay = this.#delays.get(object);
    return delay?.question.text === text && delay.question.driver === driver ? delay : undefined;
  }
}
