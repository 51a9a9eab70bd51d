/**
 * How long a write to an idle resource waits for others to join it. A moment is enough as a rule; a resource that was just
 * written for many is likely to be written for more, and then a share of the time that a write takes saves whole writes.
 */
import { batchWindowShareOf } from "../../core/resources/kinds.ts";
import type { Clock } from "../../core/util/clock.ts";
import type { AttemptReport } from "./commit-types.ts";
import { wholeOf } from "./resource-parts.ts";

/** In durations of its last write: for so long a resource counts as in demand after it was written. */
const HOT_FOR = 5;

interface Written {
  readonly durationMs: number;
  readonly atMs: number;
}

export class BatchWindow {
  readonly #clock: Clock;
  readonly #leastMs: number;
  /** Resources that were written for several at once, by id in lower case. */
  readonly #shared = new Map<string, Written>();

  constructor(clock: Clock, leastMs: number) {
    this.#clock = clock;
    this.#leastMs = leastMs;
  }

  note({ id, size, outcome, durationMs }: AttemptReport): void {
    const key = wholeOf(id).toLowerCase();
    if (outcome !== "written" || (size < 2 && !this.#shared.has(key))) return;
    this.#shared.set(key, { durationMs, atMs: this.#clock.monotonicMs() });
  }

  waitMs(id: string): number {
    const written = this.#shared.get(wholeOf(id).toLowerCase());
    if (written === undefined) return this.#leastMs;
    const isHot = this.#clock.monotonicMs() - written.atMs < written.durationMs * HOT_FOR;
    const share = batchWindowShareOf(wholeOf(id));
    return isHot ? Math.max(this.#leastMs, written.durationMs * share) : this.#leastMs;
  }
}
