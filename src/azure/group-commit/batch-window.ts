/**
 * How long a write to an idle resource waits for others to join it. A moment is enough as a rule; a resource that was just
 * written for many is likely to be written for more, and then a share of the time that a write takes saves whole writes. And
 * how long it may be held back for writes that are known to come (`expected-writes.ts`). The lane waits.
 */
import type { Clock } from "../../core/util/clock.ts";
import { wholeOf } from "../../core/model/ids.ts";
import { batchWindowShareOf } from "../../core/resources/kinds.ts";
import type { AttemptReport } from "./commit-types.ts";

/** In durations of its last write: for so long a resource counts as in demand after it was written. */
const HOT_FOR = 5;
/** The longest that a write waits for others, however long the last one took. */
const LONGEST_WINDOW_MS = 10_000;

/** For a resource that was not written yet. */
const FIRST_HOLD_MS = 250;

interface Written {
  readonly durationMs: number;
  readonly atMs: number;
}

export class BatchWindow {
  readonly #clock: Clock;
  readonly #leastMs: number;
  /** Resources that were written for several at once, by id in lower case. */
  readonly #shared = new Map<string, Written>();
  /** How long the last write of each resource took. */
  readonly #durationMs = new Map<string, number>();

  constructor(clock: Clock, leastMs: number) {
    this.#clock = clock;
    this.#leastMs = leastMs;
  }

  note({ id, size, outcome, durationMs }: AttemptReport): void {
    const key = wholeOf(id).toLowerCase();
    if (outcome === "written") this.#durationMs.set(key, durationMs);
    if (outcome !== "written" || (size < 2 && !this.#shared.has(key))) return;
    this.#shared.set(key, { durationMs, atMs: this.#clock.monotonicMs() });
  }

  waitMs(id: string): number {
    const written = this.#shared.get(wholeOf(id).toLowerCase());
    if (written === undefined) return this.#leastMs;
    const isHot = this.#clock.monotonicMs() - written.atMs < written.durationMs * HOT_FOR;
    const share = batchWindowShareOf(wholeOf(id));
    const windowMs = Math.min(written.durationMs * share, LONGEST_WINDOW_MS);
    return isHot ? Math.max(this.#leastMs, windowMs) : this.#leastMs;
  }

  /** How long what waits may be held back for writes that are known to come: for about as long as a write more would take. */
  holdMs(id: string): number {
    return Math.min(this.#durationMs.get(wholeOf(id).toLowerCase()) ?? FIRST_HOLD_MS, LONGEST_WINDOW_MS);
  }
}
