/**
 * Nodes that came and went while no controller saw them for long enough to record their names. A scale set may have put the machine
 * of such a node into a pool, and it stays there: a known limit (docs/reliability.md). Reports nothing; the laws ask.
 */
import type { HistoryEntry } from "../../sandbox/kubernetes/model/contract.ts";
import type { Process } from "../environment/timeline.ts";
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

  onDelivered(process: Process, collection: string, revision: number): void {
    if (collection !== "nodes") return;
    for (const node of this.#present.values())
      if (node.revision <= revision) node.sightings.push({ process, atMs: this.#nowMs() });
  }

  /** Whether the controller cannot know that there was a node of this name, which is gone. */
  has(name: string): boolean {
    const sightings = this.#gone.get(name);
    return sightings !== undefined && !this.#present.has(name) && !sightings.some(isLong);
  }
}

function isLong({ process, atMs }: Sighting): boolean {
  return process.endedMs - atMs > RECORDED_WITHIN_MS;
}
