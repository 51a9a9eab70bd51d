/**
 * Remembers what a driver answered to a validation, so that it is not asked the same again without cause: LBCF asks once,
 * when an object is applied.
 *
 *   answer           | the same question is asked again
 *   -----------------|------------------------------------------------------------------
 *   valid            | never
 *   refused          | after a minute, then twice as long each time, up to an hour
 *   no usable answer | after 10 s, 20 s, … 2 min, or when the driver is healthy again
 *
 * In memory only: after a restart the driver is asked again.
 */
import type { ValidationResult } from "../../../core/lbcf/drivers/driver-answers.ts";
import type { Clock } from "../../../core/util/clock.ts";
import type { Question } from "./retry-delays.ts";

interface Remembered {
  readonly question: Question;
  readonly validation: ValidationResult;
  /** How often in a row it was not valid. */
  readonly refusals: number;
  readonly untilMs: number;
}

const LIFE_MS = {
  refused: { firstMs: 60_000, mostMs: 3_600_000 },
  failed: { firstMs: 10_000, mostMs: 120_000 },
} as const;

/** The shortest times after which an object that is not valid is worth another reconciliation. */
export const REFUSED_AGAIN_MS = LIFE_MS.refused.firstMs;
export const FAILED_AGAIN_MS = LIFE_MS.failed.firstMs;

export class ValidationMemo {
  readonly #clock: Clock;
  readonly #remembered = new Map<string, Remembered>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async of(question: Question, ask: () => Promise<ValidationResult>): Promise<ValidationResult> {
    const known = this.#remembered.get(question.object);
    const isSame = known?.question.text === question.text && known.question.driver === question.driver;
    if (isSame && known.untilMs > this.#clock.monotonicMs()) return known.validation;
    const validation = await ask();
    const refusals = validation.kind === "valid" ? 0 : 1 + (isSame ? known.refusals : 0);
    const untilMs = this.#clock.monotonicMs() + lifeMs(validation, refusals);
    this.#remembered.set(question.object, { question, validation, refusals, untilMs });
    return validation;
  }

  driverUsable(driver: string): void {
    for (const [object, { question, validation }] of this.#remembered) {
      if (question.driver === driver && validation.kind === "failed") this.#remembered.delete(object);
    }
  }

  /** Of all objects whose key starts with that. */
  forget(prefix: string): void {
    for (const object of this.#remembered.keys()) if (object.startsWith(prefix)) this.#remembered.delete(object);
  }
}

function lifeMs({ kind }: ValidationResult, refusals: number): number {
  if (kind === "valid") return Number.POSITIVE_INFINITY;
  const { firstMs, mostMs } = LIFE_MS[kind];
  return Math.min(mostMs, firstMs * 2 ** (refusals - 1));
}
