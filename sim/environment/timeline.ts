/**
 * Virtual time: a queue of what is to happen, and nothing happens but by it. After each happening everything that it set
 * in motion runs to its end before the next one, so the order of all things is the order of the queue.
 *
 * What belongs to a process waits while that is paused and is forgotten once it is dead: so a crash is a crash, at any
 * point, without a word of it in the code that crashes.
 */
import { sleepOn, type CancelSignal, type Clock, type Timer } from "../../src/core/util/clock.ts";

/** When all histories begin. */
export const EPOCH_MS = Date.UTC(2026, 0, 1);

interface Happening {
  readonly dueMs: number;
  /** Ties go in the order they were set. */
  readonly order: number;
  readonly process: Process | undefined;
  callback: (() => void) | undefined;
}

/** Whose happenings can be held up or lost together. */
export class Process {
  readonly name: string;
  isDead = false;
  isPaused = false;
  /** How far its wall clock is off. */
  wallOffsetMs = 0;
  /** What fell due while it was paused. */
  readonly held: Happening[] = [];

  constructor(name: string) {
    this.name = name;
  }
}

export class Timeline {
  /** Since the beginning. */
  elapsedMs = 0;
  /** Happenings so far. */
  steps = 0;
  readonly #queue: Happening[] = [];
  #order = 0;

  /** Milliseconds since 1970, as a good clock has it. */
  get nowMs(): number {
    return EPOCH_MS + Math.floor(this.elapsedMs);
  }

  after(delayMs: number, callback: () => void, process?: Process): Timer {
    const happening: Happening = {
      dueMs: this.elapsedMs + Math.max(0, delayMs),
      order: this.#order++,
      process,
      callback,
    };
    push(this.#queue, happening);
    return {
      cancel: () => {
        happening.callback = undefined;
      },
    };
  }

  clockOf(process: Process): Clock {
    const setTimer = (afterMs: number, callback: () => void): Timer => this.after(afterMs, callback, process);
    return {
      nowMs: () => this.nowMs + process.wallOffsetMs,
      monotonicMs: () => this.elapsedMs,
      setTimer,
      sleep: (afterMs: number, signal?: CancelSignal) => sleepOn({ setTimer }, afterMs, signal),
      nextTurn: () => Promise.resolve(),
    };
  }

  resume(process: Process): void {
    process.isPaused = false;
    for (const { callback, order } of process.held.splice(0)) {
      if (callback === undefined) continue;
      push(this.#queue, { dueMs: this.elapsedMs, order, process, callback });
    }
  }

  /** Lets that much time pass. */
  async pass(forMs: number): Promise<void> {
    const endMs = this.elapsedMs + forMs;
    await settled();
    for (let next = this.#queue[0]; next !== undefined && next.dueMs <= endMs; next = this.#queue[0]) {
      pop(this.#queue);
      if (next.callback === undefined || next.process?.isDead === true) continue;
      this.elapsedMs = Math.max(this.elapsedMs, next.dueMs);
      if (next.process?.isPaused === true) {
        next.process.held.push(next);
        continue;
      }
      this.steps += 1;
      next.callback();
      await settled();
    }
    this.elapsedMs = endMs;
  }
}

/**
 * Every promise reaction that is ready has run, and what those made ready. A tick would do for that; but a rejection that
 * nobody has heard by the end of a turn of the event loop is the end of a real process, and only turns tell of it.
 */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function isBefore(one: Happening, other: Happening): boolean {
  return one.dueMs < other.dueMs || (one.dueMs === other.dueMs && one.order < other.order);
}

/** A binary heap, soonest first. */
function push(heap: Happening[], happening: Happening): void {
  let at = heap.length;
  heap.push(happening);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent]!;
    if (!isBefore(happening, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = happening;
}

function pop(heap: Happening[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
    if (!isBefore(heap[child]!, last)) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = last;
}
