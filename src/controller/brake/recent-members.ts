/** Which members pools had within a window of time, and which nodes announced that they go before they were gone. */
import type { Clock } from "../../core/util/clock.ts";

export class RecentMembers {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #windowMs: number;
  /** By pool, by member: when it was last seen there. */
  readonly #seen = new Map<string, Map<string, number>>();
  /** By name: since when it counts for nothing. */
  readonly #departed = new Map<string, number>();

  constructor(clock: Pick<Clock, "monotonicMs">, windowMs: number) {
    this.#clock = clock;
    this.#windowMs = windowMs;
  }

  /** `inService`: names of nodes that a pool might hold. One that is not in it has left it by a change of its Service. */
  note(pools: ReadonlyMap<string, ReadonlySet<string>>, inService: ReadonlySet<string> = new Set()): void {
    const now = this.#clock.monotonicMs();
    for (const [pool, members] of pools) {
      const seen = this.#seen.get(pool) ?? new Map<string, number>();
      for (const member of seen.keys()) if (inService.has(member) && !members.has(member)) seen.delete(member);
      for (const member of members) seen.set(member, now);
      this.#seen.set(pool, seen);
    }
    for (const [pool, seen] of this.#seen) {
      this.#forget(seen);
      if (seen.size === 0) this.#seen.delete(pool);
    }
    this.#forget(this.#departed);
  }

  depart(name: string): void {
    this.#departed.set(name, this.#clock.monotonicMs());
  }

  stay(name: string): void {
    this.#departed.delete(name);
  }

  get recent(): ReadonlyMap<string, ReadonlySet<string>> {
    return new Map([...this.#seen].map(([pool, seen]) => [pool, this.#current(seen)]));
  }

  get departed(): ReadonlySet<string> {
    return this.#current(this.#departed);
  }

  #current(times: ReadonlyMap<string, number>): ReadonlySet<string> {
    return new Set([...times].filter(([, atMs]) => this.#isRecent(atMs)).map(([name]) => name));
  }

  #forget(times: Map<string, number>): void {
    for (const [name, atMs] of times) if (!this.#isRecent(atMs)) times.delete(name);
  }

  #isRecent(atMs: number): boolean {
    return this.#clock.monotonicMs() - atMs <= this.#windowMs;
  }
}
