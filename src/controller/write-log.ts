/**
 * The last writes to Azure, for the read-only API. An entry is made when Azure has answered a call, with Azure's name for it;
 * the group commit adds the batch and how it ended. What a write has changed is found by comparing what was seen before and
 * after it, a moment later, so that no drain waits for that.
 */
import type { CallReport } from "../azure/arm/arm-exchange.ts";
import type { ArmBody, AttemptReport } from "../azure/group-commit/commit-types.ts";
import { sameId, wholeOf } from "../core/model/ids.ts";
import type { Clock } from "../core/util/clock.ts";
import { changesOf, type NotedWrite } from "../core/view/write-view.ts";

interface Entry {
  write: NotedWrite;
  /** What it changed is known, or will be. */
  isCompared: boolean;
  isOver: boolean;
}

const MOST_WRITES = 200;
const COMPARED_AFTER_MS = 100;
const WRITES: ReadonlySet<string> = new Set(["put", "delete", "post"]);

export class WriteLog {
  readonly #clock: Clock;
  readonly #entries: Entry[] = [];
  #count = 0;
  #onChange: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  listen(onChange: () => void): void {
    this.#onChange = onChange;
  }

  /** Newest first, with the sequence number of the first. */
  newest(limit: number): { readonly sequence: number; readonly writes: readonly NotedWrite[] } {
    const writes = this.#entries.slice(-limit).reverse();
    return { sequence: this.#count, writes: writes.map(({ write }) => write) };
  }

  called({ verb, id, batchSize, status, failure, requestId, durationMs }: CallReport): void {
    if (!WRITES.has(verb) || (status === undefined && failure?.kind !== "transient")) return; // it was held back
    const write: NotedWrite = {
      id,
      verb,
      endedMs: this.#clock.nowMs(),
      durationMs: Math.round(durationMs),
      size: batchSize ?? 1,
      owners: [],
      outcome: failure?.kind ?? (verb === "delete" ? "deleted" : "written"),
      message: failure?.message,
      requestId,
      changes: changesOf(undefined, undefined),
    };
    this.#count += 1;
    this.#entries.push({ write, isCompared: failure !== undefined, isOver: false });
    if (this.#entries.length > MOST_WRITES) this.#entries.shift();
    this.#onChange();
  }

  /** A whole resource was seen; where that is the end of a write, it tells what the write has changed. */
  seen(id: string, before: ArmBody | null | undefined, after: ArmBody | null | undefined): void {
    const entry = this.#entries.findLast(({ write, isCompared }) => !isCompared && sameId(wholeOf(write.id), id));
    if (entry === undefined) return;
    entry.isCompared = true;
    this.#clock.setTimer(COMPARED_AFTER_MS, () => {
      entry.write = { ...entry.write, changes: changesOf(before, after) };
      this.#onChange();
    });
  }

  /** A batch has come to its end: its write, if it made one, is known by its id. */
  attempted({ id, size, durationMs, outcome, failure, owners = [] }: AttemptReport): void {
    const entry = this.#entries.findLast(({ write, isOver }) => !isOver && sameId(write.id, id));
    if (entry === undefined) return;
    entry.isOver = true;
    const message = failure?.message ?? entry.write.message;
    const ended = { durationMs: Math.round(durationMs), endedMs: this.#clock.nowMs() };
    const wrote = outcome === "unchanged" || outcome === "refused" ? entry.write.outcome : outcome;
    entry.write = { ...entry.write, ...ended, size, owners, outcome: wrote, message };
    this.#onChange();
  }
}
