/**
 * Runs probe tasks at their intervals and keeps the health of each. A new task runs at once, then every interval; a task
 * never overlaps itself, and the number of concurrent probes is bounded.
 */
import type { Clock, Timer } from "./clock.ts";
import { afterProbe, NOT_PROBED, type Health, type ProbeState } from "./probe-state.ts";

export interface ProbeTask {
  /** Identifies the health record: probe, member and loopback port. */
  readonly key: string;
  readonly intervalMs: number;
  readonly threshold: number;
  /** Never rejects. */
  readonly attempt: (signal: AbortSignal) => Promise<boolean>;
}

export interface Prober {
  /** Replaces the set of tasks. */
  watch(tasks: ReadonlyMap<string, ProbeTask>): void;
  /** Reschedules waiting tasks after a change of the time factor. */
  retime(): void;
  healthOf(key: string): Health;
  close(): void;
}

export interface ProberOptions {
  readonly clock: Clock;
  readonly timeFactor: () => number;
  readonly onChange: (key: string, from: Health, to: Health) => void;
}

/** Probes in flight at a time. */
const MAX_AT_ONCE = 64;

interface Watched {
  task: ProbeTask;
  state: ProbeState;
  startedMs: number;
  timer: Timer | undefined;
}

export function prober({ clock, timeFactor, onChange }: ProberOptions): Prober {
  const watched = new Map<string, Watched>();
  const waiting: Watched[] = [];
  const closing = new AbortController();
  let running = 0;

  function due(entry: Watched): void {
    entry.timer = undefined;
    waiting.push(entry);
    next();
  }

  function next(): void {
    while (running < MAX_AT_ONCE) {
      const entry = waiting.shift();
      if (entry === undefined) return;
      if (watched.get(entry.task.key) === entry) void run(entry);
    }
  }

  async function run(entry: Watched): Promise<void> {
    running++;
    entry.startedMs = clock.nowMs();
    const succeeded = await entry.task.attempt(closing.signal);
    running--;
    if (watched.get(entry.task.key) === entry) {
      learn(entry, succeeded);
      schedule(entry);
    }
    next();
  }

  function learn(entry: Watched, succeeded: boolean): void {
    const before = entry.state.health;
    entry.state = afterProbe(entry.state, succeeded, entry.task.threshold);
    if (entry.state.health !== before) onChange(entry.task.key, before, entry.state.health);
  }

  function schedule(entry: Watched): void {
    const dueMs = entry.startedMs + entry.task.intervalMs * timeFactor();
    entry.timer = clock.setTimer(Math.max(0, dueMs - clock.nowMs()), () => due(entry));
  }

  return {
    watch(tasks) {
      for (const [key, entry] of watched) {
        const task = tasks.get(key);
        if (task !== undefined) entry.task = task;
        else {
          entry.timer?.cancel();
          watched.delete(key);
        }
      }
      for (const [key, task] of tasks) {
        if (watched.has(key)) continue;
        const entry = { task, state: NOT_PROBED, startedMs: 0, timer: undefined };
        watched.set(key, entry);
        due(entry);
      }
    },
    retime() {
      for (const entry of watched.values()) {
        if (entry.timer === undefined) continue;
        entry.timer.cancel();
        schedule(entry);
      }
    },
    healthOf: (key) => watched.get(key)?.state.health ?? "unknown",
    close() {
      for (const entry of watched.values()) entry.timer?.cancel();
      watched.clear();
      closing.abort();
    },
  };
}
