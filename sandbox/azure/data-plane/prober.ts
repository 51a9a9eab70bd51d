/**
 * Probes members at their intervals and remembers what is believed about each. A member is probed as soon as it
 * appears, then every interval; one probe of it at a time, and a bounded number of them at once over all.
 */
import type { Clock, Timer } from "./clock.ts";
import { afterProbe, NOT_PROBED, type Health, type ProbeState } from "./probe-state.ts";

export interface ProbeTask {
  /** What one belief is about: the probe, the member and where it listens. */
  readonly key: string;
  readonly intervalMs: number;
  readonly threshold: number;
  /** Never rejects. */
  readonly attempt: (signal: AbortSignal) => Promise<boolean>;
}

export interface Prober {
  /** These are to be probed, and no others. */
  watch(tasks: ReadonlyMap<string, ProbeTask>): void;
  /** Intervals have changed: what waits is asked at its new time. */
  retime(): void;
  healthOf(key: string): Health;
  close(): void;
}

export interface ProberOptions {
  readonly clock: Clock;
  readonly timeFactor: () => number;
  readonly onChange: (key: string, from: Health, to: Health) => void;
}

/** Sockets that probes may hold at once. */
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
