/**
 * Batches the changes of each pool, so that a thousand backends registered one by one take a few writes. The first change
 * of a quiet pool waits 50 ms; while changes keep coming, each next write waits twice as long, up to five seconds, but no
 * longer than they do keep coming: what waits is written once half of that time has passed without another change. Where
 * more backends are known to be on their way than wait already, it waits for them, for twenty seconds at most: so each write takes
 * half of what is left, however slowly they come. What leaves the pool waits for none of these. Drains do not wait.
 */
import type { Priority } from "../../../azure/budget/limits.ts";
import type { Committed } from "../../../azure/group-commit/commit-types.ts";
import type { GroupCommit } from "../../../azure/group-commit/group-commit.ts";
import { WriteKind } from "../../../azure/group-commit/write-kind.ts";
import type { BackendPool, LoadBalancer } from "../../../core/model/arm.ts";
import type { Clock } from "../../../core/util/clock.ts";
import { type BackendChange, mergeBackends } from "../../../core/lbcf/azure/merge-backends.ts";

/** The part of the group commit that the batcher uses. */
export type CommitPort = Pick<GroupCommit, "submit">;

export interface BatchedChange {
  readonly poolId: string;
  readonly change: BackendChange;
  /** A newer change with the same key takes the place of one that still waits. */
  readonly dedupKey: string;
  readonly priority: Priority;
  /** Of the record; absent: no record asks for it. */
  readonly namespace?: string | undefined;
  /** Read Azure first, instead of merging into what was last seen. */
  readonly readFirst: boolean;
  /** How many backends of the pool are still to be asked for, those that wait among them; absent: it waits for no others. */
  readonly outstanding?: (() => number) | undefined;
}

const FIRST_MS = 50;
const MOST_MS = 5_000;
/** What is on its way is waited for no longer. */
const LONGEST_MS = 20_000;
/** A pool without changes for that long is quiet. */
const QUIET_MS = 1_000;
/** The part of a window after which no further change is expected in it. */
const PAUSE_OF_WINDOW = 1 / 2;
const BACKENDS = new WriteKind<BackendPool, BackendChange, LoadBalancer>("lbcf-backends", mergeBackends);

interface BatchWindow {
  readonly waiting: (() => void)[];
  waitMs: number;
  flushedMs: number;
  isArmed: boolean;
  /** When the last change came. */
  changedMs: number;
  /** `undefined`: nobody who waits would wait for others. */
  outstanding: BatchedChange["outstanding"];
}

export class BackendBatcher {
  readonly #commit: CommitPort;
  readonly #clock: Clock;
  /** By pool id. */
  readonly #pools = new Map<string, BatchWindow>();

  constructor(commit: CommitPort, clock: Clock) {
    this.#commit = commit;
    this.#clock = clock;
  }

  async submit(batched: BatchedChange): Promise<Committed<LoadBalancer>> {
    const { poolId, change, outstanding, ...options } = batched;
    if (batched.priority !== "drain") await this.#windowClosed(poolId, outstanding);
    return this.#commit.submit({ id: poolId, kind: BACKENDS, fragment: change, ...options });
  }

  #windowClosed(poolId: string, outstanding: BatchedChange["outstanding"]): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    const window = this.#pools.get(poolId) ?? {
      waiting: [],
      waitMs: 0,
      flushedMs: -Infinity,
      isArmed: false,
      changedMs: nowMs,
      outstanding,
    };
    this.#pools.set(poolId, window);
    window.changedMs = nowMs;
    const isFirst = window.waiting.length === 0;
    window.outstanding = isFirst || window.outstanding !== undefined ? outstanding : undefined;
    const closed = new Promise<void>((resolve) => window.waiting.push(resolve));
    if (!window.isArmed) this.#arm(window);
    return closed;
  }

  #arm(window: BatchWindow): void {
    const nowMs = this.#clock.monotonicMs();
    const isQuiet = nowMs - window.flushedMs > QUIET_MS + window.waitMs;
    window.waitMs = isQuiet ? FIRST_MS : Math.min(MOST_MS, window.waitMs * 2);
    window.isArmed = true;
    this.#look(window, nowMs, nowMs + window.waitMs);
  }

  /** Looks when the window may be over, instead of setting a timer anew with each change. */
  #look(window: BatchWindow, startMs: number, endMs: number): void {
    const pauseMs = Math.max(FIRST_MS, window.waitMs * PAUSE_OF_WINDOW);
    const untilMs = Math.min(endMs, window.changedMs + pauseMs);
    const nowMs = this.#clock.monotonicMs();
    const isLate = nowMs - startMs >= LONGEST_MS;
    const leftMs = untilMs > nowMs ? untilMs - nowMs : !isLate && isMoreComing(window) ? pauseMs : 0;
    if (leftMs > 0) this.#clock.setTimer(leftMs, () => this.#look(window, startMs, endMs));
    else this.#flush(window);
  }

  #flush(window: BatchWindow): void {
    window.isArmed = false;
    window.flushedMs = this.#clock.monotonicMs();
    for (const go of window.waiting.splice(0)) go();
  }
}

function isMoreComing({ waiting, outstanding }: BatchWindow): boolean {
  return outstanding !== undefined && outstanding() > 2 * waiting.length;
}
