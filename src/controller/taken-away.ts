/**
 * Notices writes that took something away from a load balancer or the security group (`takesAway` of `core/freshness.ts`), and
 * tells of each once it is over. A write whose outcome was unknown for a while counts as one.
 */
import type { ArmBody, AttemptReport } from "../azure/group-commit/commit-types.ts";
import { takesAway } from "../core/freshness.ts";
import { wholeOf } from "../core/model/ids.ts";
import { isBodyOf, knownType } from "../core/resources/kinds.ts";

export interface TakenAway {
  /** When the write was decided, by the monotonic clock: from then until now, others may have relied on what it took. */
  readonly sinceMs: number;
  /** Keys of those who wrote it: they look again by themselves. */
  readonly by: readonly string[];
}

export class TakenAwayWatch {
  readonly #onTakenAway: (taken: TakenAway) => void;
  /** Ids, in lower case, of resources that have lost something in a write that is not over. */
  readonly #losing = new Set<string>();

  constructor(onTakenAway: (taken: TakenAway) => void) {
    this.#onTakenAway = onTakenAway;
  }

  /** As of the group commit's `onSeen`; `before`: what was last seen until then. */
  seen(id: string, before: ArmBody | null | undefined, after: ArmBody | null | undefined): void {
    const kind = knownType(id)?.kind;
    if ((kind !== "loadBalancer" && kind !== "securityGroup") || after === undefined || before === null) return;
    const now = after !== null && isBodyOf(kind, after) ? after : undefined;
    if (before === undefined || (isBodyOf(kind, before) && takesAway(before, now))) this.#losing.add(id.toLowerCase());
  }

  /** As of the group commit's `onAttempt`. */
  attempted({ id, outcome, sinceMs, owners = [] }: AttemptReport): void {
    const isOver = outcome === "written" || outcome === "unchanged" || outcome === "deleted";
    if (isOver && this.#losing.delete(wholeOf(id).toLowerCase())) this.#onTakenAway({ sinceMs, by: owners });
  }
}
