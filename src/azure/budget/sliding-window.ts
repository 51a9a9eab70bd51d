/** Counts events of the last while, in slices: exact to a sixtieth of the window, on the safe side. */
const SLICES = 60;

export class SlidingWindow {
  readonly #limit: number;
  readonly #sliceMs: number;
  /** Oldest first. */
  readonly #slices: { readonly startMs: number; count: number }[] = [];
  #total = 0;

  constructor(limit: number, lengthMs: number) {
    this.#limit = limit;
    this.#sliceMs = lengthMs / SLICES;
  }

  add(nowMs: number): void {
    const startMs = Math.floor(nowMs / this.#sliceMs) * this.#sliceMs;
    const last = this.#slices.at(-1);
    if (last?.startMs === startMs) last.count += 1;
    else this.#slices.push({ startMs, count: 1 });
    this.#total += 1;
  }

  /** How long until one more fits while that share of the limit stays free; 0 when it fits now. */
  waitMs(nowMs: number, reserved: number): number {
    this.#forget(nowMs);
    let excess = this.#total + 1 - Math.floor(this.#limit * (1 - reserved));
    if (excess <= 0) return 0;
    for (const slice of this.#slices) {
      excess -= slice.count;
      if (excess <= 0) return this.#endMs(slice.startMs) - nowMs;
    }
    return this.#sliceMs;
  }

  #forget(nowMs: number): void {
    for (let oldest = this.#slices[0]; oldest && this.#endMs(oldest.startMs) <= nowMs; oldest = this.#slices[0]) {
      this.#slices.shift();
      this.#total -= oldest.count;
    }
  }

  /** When a slice is wholly out of the window. */
  #endMs(startMs: number): number {
    return startMs + this.#sliceMs * (SLICES + 1);
  }
}
