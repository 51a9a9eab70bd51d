/** What is to be done and when: one task per key, the earliest wish wins. Whoever owns the clock runs what is due. */
type Task = () => void;

export class Agenda {
  readonly #due = new Map<string, { atMs: number; task: Task }>();

  /** Plans the task for this moment, unless one of the same key is planned for before. */
  plan(key: string, atMs: number, task: Task): void {
    const planned = this.#due.get(key);
    if (planned === undefined || atMs < planned.atMs) this.#due.set(key, { atMs, task });
  }

  /** Runs what is due, and what that makes due at once, in the order in which it was planned. */
  run(nowMs: number): void {
    for (let found = this.#takeDue(nowMs); found.length > 0; found = this.#takeDue(nowMs)) {
      for (const task of found) task();
    }
  }

  get nextAtMs(): number | undefined {
    let next: number | undefined;
    for (const { atMs } of this.#due.values()) if (next === undefined || atMs < next) next = atMs;
    return next;
  }

  #takeDue(nowMs: number): Task[] {
    const found: Task[] = [];
    for (const [key, { atMs, task }] of this.#due) {
      if (atMs > nowMs) continue;
      this.#due.delete(key);
      found.push(task);
    }
    return found;
  }
}
