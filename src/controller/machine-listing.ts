/**
 * The machines behind the nodes, as fresh as the nodes need them: a Node that the last listing does not know causes
 * another one. A machine that is still missing then (Azure may show it later, or never) is asked for again at growing
 * intervals, by whichever caller comes next; `awaitedMs` tells a caller when that is worth it.
 */
import type { Mirror } from "../azure/cache/mirror.ts";
import type { Compute } from "../core/backends/compute.ts";
import { unlistedMachines } from "../core/freshness.ts";
import type { Node } from "../core/model/kubernetes.ts";
import type { Clock } from "../core/util/clock.ts";

const FIRST_MS = 2_000;
const LONGEST_MS = 300_000;

interface Missing {
  readonly dueMs: number;
  readonly waitMs: number;
}

export class MachineListing {
  readonly #mirror: Pick<Mirror, "compute" | "expireMachines">;
  readonly #clock: Clock;
  /** Machines that a listing for their sake did not show, by id. */
  readonly #missing = new Map<string, Missing>();

  constructor(mirror: Pick<Mirror, "compute" | "expireMachines">, clock: Clock) {
    this.#mirror = mirror;
    this.#clock = clock;
  }

  /** `known`: the last listing will do, however old, if it shows these nodes. */
  async compute(nodes: readonly Node[], signal: AbortSignal, age: "fresh" | "known" = "fresh"): Promise<Compute> {
    const listed = await this.#mirror.compute(signal, age);
    const nowMs = this.#clock.monotonicMs();
    const unlisted = unlistedMachines(nodes, listed);
    const due = unlisted.filter((id) => (this.#missing.get(id)?.dueMs ?? 0) <= nowMs);
    if (due.length === 0) return listed;
    for (const id of due) {
      const waitMs = Math.min((this.#missing.get(id)?.waitMs ?? FIRST_MS / 2) * 2, LONGEST_MS);
      this.#missing.set(id, { dueMs: nowMs + waitMs, waitMs });
    }
    this.#mirror.expireMachines();
    return this.#mirror.compute(signal);
  }

  /** How long until a machine of these nodes is worth another listing; `undefined` where all are listed. */
  awaitedMs(nodes: readonly Node[], compute: Compute): number | undefined {
    const unlisted = new Set(unlistedMachines(nodes, compute));
    for (const id of this.#missing.keys()) if (!unlisted.has(id)) this.#missing.delete(id);
    const nowMs = this.#clock.monotonicMs();
    const waits = [...unlisted].map((id) => Math.max(0, (this.#missing.get(id)?.dueMs ?? nowMs) - nowMs));
    return waits.length === 0 ? undefined : Math.min(...waits);
  }
}
