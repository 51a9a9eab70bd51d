/**
 * Virtual time: a queue of tasks. After each task, every promise reaction that it triggers runs before the next task, so
 * the order of the queue is the order of everything in a history.
 *
 * Tasks of a paused process are held until it resumes; tasks of a dead process are dropped. That is how a process is
 * paused or killed at any point without support in its own code.
 */
import { sleepOn, type CancelSignal, type Clock, type Timer } from "../../src/core/util/clock.ts";

/** The start of every history. */
const EPOCH_MS = Date.UTC(2026, 0, 1);

interface ScheduledTask {
  readonly dueMs: number;
  /** Tasks that are due at the same time run in the order in which they were scheduled. */
  readonly order: number;
  readonly process: Process | undefined;
  callback: (() => void) | undefined;
}

/** A group of tasks that are held or dropped together. */
export class Process {
  readonly name: string;
  isDead = false;
  isPaused = false;
  /** Since when it begins nothing new: it died, was told to end and lets the writes in flight end, or sleeps until its lease has expired. */
  endedMs = Number.POSITIVE_INFINITY;
  /** Error of its wall clock. */
  wallOffsetMs = 0;
  /** When it was last resumed. */
  resumedMs = Number.NEGATIVE_INFINITY;
  /** Tasks that became due while it was paused. */
  readonly held: ScheduledTask[] = [];

  constructor(name: string) {
    this.name = name;
  }
}

export class Timeline {
  /** Since the start of the history. */
  elapsedMs = 0;
  /** Tasks run so far. */
  steps = 0;
  readonly #queue: ScheduledTask[] = [];
  #order = 0;

  /** Milliseconds since 1970, on a correct clock. */
  get nowMs(): number {
    return EPOCH_MS + Math.floor(this.elapsedMs);
  }

  after(delayMs: number, callback: () => void, process?: Process): Timer {
    const task: ScheduledTask = {
      dueMs: this.elapsedMs + Math.max(0, delayMs),
      order: this.#order++,
      process,
      callback,
    };
    push(this.#queue, task);
    return {
      cancel: () => {
        task.callback = undefined;
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
    process.resumedMs = this.elapsedMs;
    for (const { callback, order } of process.held.splice(0)) {
      if (callback === undefined) continue;
      push(this.#queue, { dueMs: this.elapsedMs, order, process, callback });
    }
  }

  /** Runs the tasks of the next `forMs` of virtual time. */
  async advance(forMs: number): Promise<void> {
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
 * Resolves when all pending promise reactions have run. It takes a whole turn of the event loop, because Node.js reports
 * unhandled rejections at the end of a turn only.
 */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function isBefore(one: ScheduledTask, other: ScheduledTask): boolean {
  return one.dueMs < other.dueMs || (one.dueMs === other.dueMs && one.order < other.order);
}

/** The queue is a binary heap, soonest task first. */
function push(heap: ScheduledTask[], task: ScheduledTask): void {
  let at = heap.length;
  heap.push(task);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent]!;
    if (!isBefore(task, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = task;
}

function pop(heap: ScheduledTask[]): void {
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
