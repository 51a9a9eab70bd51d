/**
 * Nodes that came and went while no controller saw them, and could read Azure, for long enough to record their names. A scale set may
 * have put the machine of such a node into a pool, and it stays there: a known limit (docs/reliability.md). Reports nothing; the
 * laws ask.
 */
import type { HistoryEntry } from "../../sandbox/kubernetes/model/contract.ts";
import type { Process } from "../environment/timeline.ts";
import { LONGEST_RETRY_AFTER_MS, SLOW_MS, type Fault } from "../network/faults.ts";
import type { OutgoingCall } from "../network/network.ts";
import type { Law } from "./law.ts";

/** A look at the pools begins 50 ms after the node was seen, and reads the machines before it records the name. */
const RECORDED_WITHIN_MS = 2_000;

interface Sighting {
  readonly process: Process;
  readonly atMs: number;
}

export class UnseenNodes implements Law {
  readonly #nowMs: () => number;
  /** Of nodes that are there: the revision that made them, and who has seen them. */
  readonly #present = new Map<string, { readonly revision: number; readonly sightings: Sighting[] }>();
  readonly #gone = new Map<string, readonly Sighting[]>();
  /** When faults kept a process from reading Azure, in order. */
  readonly #hindered = new Map<Process, { readonly fromMs: number; readonly untilMs: number }[]>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  onChange({ collection, type, object, revision }: HistoryEntry): void {
    if (collection !== "nodes") return;
    const name = object.metadata.name ?? "";
    const known = this.#present.get(name);
    if (type !== "DELETED") {
      if (known === undefined) this.#present.set(name, { revision, sightings: [] });
      return;
    }
    this.#present.delete(name);
    if (known !== undefined) this.#gone.set(name, [...(this.#gone.get(name) ?? []), ...known.sightings]);
  }

  onFault({ process, side }: OutgoingCall, { kind, status }: Fault): void {
    if (side !== "azure") return;
    const fromMs = this.#nowMs();
    const forMs = kind === "slow" ? 2 * SLOW_MS.high : status === 429 ? LONGEST_RETRY_AFTER_MS : 0;
    const known = this.#hindered.get(process) ?? [];
    this.#hindered.set(process, [...known, { fromMs, untilMs: fromMs + forMs }]);
  }

  onDelivered(process: Process, collection: string, revision: number): void {
    if (collection !== "nodes") return;
    for (const node of this.#present.values())
      if (node.revision <= revision) node.sightings.push({ process, atMs: this.#nowMs() });
  }

  /** Whether the controller cannot know that there was a node of this name, which is gone. */
  has(name: string): boolean {
    const sightings = this.#gone.get(name);
    return sightings !== undefined && !this.#present.has(name) && !sightings.some((sighting) => this.#isLong(sighting));
  }

  #isLong({ process, atMs }: Sighting): boolean {
    let freeMs = atMs;
    for (const { fromMs, untilMs } of this.#hindered.get(process) ?? [])
      if (untilMs >= freeMs && fromMs <= freeMs + RECORDED_WITHIN_MS) freeMs = untilMs;
    return process.endedMs - freeMs > RECORDED_WITHIN_MS;
  }
}
