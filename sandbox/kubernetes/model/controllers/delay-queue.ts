/** A queue of delayed tasks: one per key, the earliest time wins. It has no clock; the caller runs the due tasks. */
type Task = () => void;

export class DelayQueue {
  readonly #due = new Map<string, { atMs: number; task: Task }>();

  /** Schedules the task, unless a task of the same key is scheduled earlier. */
  schedule(key: string, atMs: number, task: Task): void {
    const planned = this.#due.get(key);
    if (planned === undefined || atMs < planned.atMs) this.#due.set(key, { atMs, task });
  }

  /**
   * Runs the due tasks, and tasks that these make due, in the order of scheduling. If one throws, it and those after it
   * stay scheduled.
   */
  run(nowMs: number): void {
    for (let found = this.#takeDue(nowMs); found.length > 0; found = this.#takeDue(nowMs)) {
      for (const [at, { task }] of found.entries()) {
        try {
          task();
        } catch (error) {
          for (const { key, task: waiting } of found.slice(at)) this.schedule(key, nowMs, waiting);
          throw error;
        }
      }
    }
  }

  get nextAtMs(): number | undefined {
    let next: number | undefined;
    for (const { atMs } of this.#due.values()) if (next === undefined || atMs < next) next = atMs;
    return next;
  }

  #takeDue(nowMs: number): { key: string; task: Task }[] {
    const found: { key: string; task: Task }[] = [];
    for (const [key, { atMs, task }] of this.#due) {
      if (atMs > nowMs) continue;
      this.#due.delete(key);
      found.push({ key, task });
    }
    return found;
  }
}
