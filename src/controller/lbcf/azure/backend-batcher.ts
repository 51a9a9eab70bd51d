/**
 * Gathers changes of pools, so that a thousand backends that come one by one leave in a few writes. The first change of
 * a quiet pool goes at once; the longer a stream of changes lasts, the longer each next write waits for more, up to a
 * limit. What is urgent waits for nobody.
 */
import type { Priority } from "../../../azure/budget/budget.ts";
import type { ArmBody, Committed } from "../../../azure/group-commit/commit-types.ts";
import type { GroupCommit } from "../../../azure/group-commit/group-commit.ts";
import type { BackendPool } from "../../../core/model/arm.ts";
import type { Clock } from "../../../core/util/clock.ts";
import { type BackendChange, mergeBackends } from "../../../core/lbcf/azure/merge-backends.ts";

export interface BatchedChange {
  readonly poolId: string;
  readonly change: BackendChange;
  readonly priority: Priority;
  /** Look at Azure first, whatever was last seen. */
  readonly afresh: boolean;
}

const FIRST_MS = 50;
const MOST_MS = 5_000;
/** After so long without a change a pool counts as quiet. */
const QUIET_MS = 1_000;
const KIND = "lbcf-backends";

interface BatchWindow {
  readonly waiting: (() => void)[];
  waitMs: number;
  flushedMs: number;
  isArmed: boolean;
}

export class BackendBatcher {
  readonly #commit: GroupCommit;
  readonly #clock: Clock;
  /** By pool id. */
  readonly #pools = new Map<string, BatchWindow>();

  constructor(commit: GroupCommit, clock: Clock) {
    this.#commit = commit;
    this.#clock = clock;
  }

  async submit(batched: BatchedChange): Promise<Committed<ArmBody>> {
    if (batched.priority !== "drain") await this.#gathered(batched.poolId);
    const { poolId, change, priority, afresh } = batched;
    return this.#commit.submit<BackendPool, BackendChange>({
      id: poolId,
      kind: KIND,
      owner: change.owner,
      fragment: change,
      merge: mergeBackends,
      priority,
      afresh,
    });
  }

  #gathered(poolId: string): Promise<void> {
    const gathering = this.#pools.get(poolId) ?? { waiting: [], waitMs: 0, flushedMs: -Infinity, isArmed: false };
    this.#pools.set(poolId, gathering);
    const turn = new Promise<void>((resolve) => gathering.waiting.push(resolve));
    if (!gathering.isArmed) this.#arm(gathering);
    return turn;
  }

  #arm(gathering: BatchWindow): void {
    const isQuiet = this.#clock.monotonicMs() - gathering.flushedMs > QUIET_MS + gathering.waitMs;
    gathering.waitMs = isQuiet ? FIRST_MS : Math.min(MOST_MS, gathering.waitMs * 2);
    gathering.isArmed = true;
    this.#clock.setTimer(gathering.waitMs, () => {
      gathering.isArmed = false;
      gathering.flushedMs = this.#clock.monotonicMs();
      for (const go of gathering.waiting.splice(0)) go();
    });
  }
}
