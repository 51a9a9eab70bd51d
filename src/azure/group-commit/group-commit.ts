/**
 * One writer (`lane.ts`) per Azure resource, for any number of callers. A load balancer or a security group is shared by
 * many Services under one ETag, so separate writes would cost a round trip each; here the fragments that come while a
 * write is in flight are merged and leave together in the next. What a fragment means, and what it may touch, is decided
 * by the merge alone.
 */
import { setMaxListeners } from "node:events";
import type { Clock, Random } from "../../core/util/clock.ts";
import { answersOf, type Merged, unchanged } from "../../core/outcome.ts";
import type { ArmClient } from "../arm/arm-client.ts";
import { BatchWindow } from "./batch-window.ts";
import { ExpectedWrites } from "./expected-writes.ts";
import type { Priority } from "../budget/limits.ts";
import type { ArmBody, AttemptReport, Committed, Write } from "./commit-types.ts";
import { ArmError } from "../arm/failures.ts";
import { Lane, STOPPING, type LaneContext } from "./lane.ts";
import { isBroken } from "../arm/response-body.ts";
import { wholeOf } from "../../core/model/ids.ts";
import { WriteKind } from "./write-kind.ts";

export interface GroupCommitOptions {
  readonly client: ArmClient;
  readonly clock: Clock;
  readonly random: Random;
  /** Asked right before each write leaves: does this process still hold its lease? */
  readonly mayWrite: (priority: Priority) => boolean | Promise<boolean>;
  /** What is known without asking Azure, and where to note what was seen: `undefined` when that is unknown. */
  readonly lastSeen?: (id: string) => ArmBody | null | undefined;
  readonly wasThere?: (id: string) => boolean;
  readonly isJustWritten?: (id: string) => boolean;
  readonly onSeen?: (id: string, body: ArmBody | null | undefined) => void;
  /** How long the first write to an idle resource waits at least for others that are on their way. */
  readonly gatherMs?: number;
  readonly onAttempt?: (report: AttemptReport) => void;
}

const GATHER_MS = 10;
const REPAIR = new WriteKind("repair", repaired);

export class GroupCommit {
  readonly #context: LaneContext;
  /** By id of the whole resource in lower case; only those at work. */
  readonly #lanes = new Map<string, Lane>();
  readonly #closing = new AbortController();
  readonly #expected = new ExpectedWrites((id) => this.#lanes.get(id)?.expectFewer());

  constructor(options: GroupCommitOptions) {
    const nothing = (): undefined => undefined;
    setMaxListeners(0, this.#closing.signal); // every resource at work listens
    const { gatherMs = GATHER_MS, onAttempt, ...rest } = options;
    const gathering = new BatchWindow(options.clock, gatherMs);
    this.#context = {
      lastSeen: nothing,
      wasThere: () => false,
      isJustWritten: () => false,
      onSeen: nothing,
      ...rest,
      gatherMs: (id) => gathering.waitMs(id),
      holdMs: (id) => gathering.holdMs(id),
      expected: (id) => this.#expected.count(id),
      onAttempt: (report) => {
        gathering.note(report);
        onAttempt?.(report);
      },
      closing: this.#closing.signal,
      repair: (id) => this.#repair(id),
    };
  }

  /** Resolves with what came of it, once that is certain; rejects only where a merge threw. */
  submit<Body extends ArmBody, Fragment, Whole extends ArmBody>(
    write: Write<Body, Fragment, Whole>,
  ): Promise<Committed<Whole>> {
    if (write.signal?.aborted) return Promise.resolve({ kind: "withdrawn" });
    if (this.#closing.signal.aborted) return Promise.resolve({ kind: "failed", failure: STOPPING });
    const [ticket, outcome] = write.kind.open(write, this.#context.clock.monotonicMs());
    const lane = this.#laneOf(write.id);
    lane.submit(ticket);
    if (write.dedupKey !== undefined) this.#expected.came(write.dedupKey, write.id);
    const { signal } = write;
    if (signal === undefined) return outcome;
    const withdraw = (): void => lane.withdraw();
    signal.addEventListener("abort", withdraw);
    return outcome.finally(() => signal.removeEventListener("abort", withdraw));
  }

  /**
   * Writes with this dedup key to these resources, and to no others, are on their way: where more are on their way than wait,
   * those that wait are held back for a while, so as to leave with them. Each has come once it is submitted.
   */
  expect(key: string, ids: readonly string[]): void {
    this.#expected.expect(key, ids);
  }

  /** Writes that wait or are in flight, as far as they are known here. */
  get resourcesAtWork(): number {
    return this.#lanes.size;
  }

  /** Lets the writes in flight end, fails what waits, takes nothing more. */
  async close(): Promise<void> {
    this.#closing.abort(new ArmError(STOPPING, "writing"));
    for (const lane of this.#lanes.values()) await lane.running;
  }

  #laneOf(id: string): Lane {
    const key = wholeOf(id).toLowerCase();
    const lane = this.#lanes.get(key) ?? new Lane(key, this.#context, () => this.#lanes.delete(key));
    this.#lanes.set(key, lane);
    return lane;
  }

  /** No caller waits for it: the write that needs it is retried anyway, and two lanes must never wait for each other. */
  #repair(id: string): void {
    const write = { id, kind: REPAIR, fragment: undefined, readFirst: true, priority: "create" } as const;
    this.submit(write).catch(() => {});
  }
}

/** A resource whose provisioning failed or was cancelled comes round when it is written once more as it is. */
function repaired(seen: ArmBody | undefined, fragments: readonly undefined[]): Merged<ArmBody> {
  if (seen === undefined || !isBroken(seen)) return unchanged(fragments);
  return { outcome: { kind: "put", body: seen }, answers: answersOf(fragments) };
}
