/**
 * What goes wrong on the way to Azure or Kubernetes. A trouble is armed by the history, waits for the calls that it is
 * meant for, lets some pass, and then hits a few of them.
 *
 *   kind        | what happens to the call
 *   ------------|--------------------------------------------------------------------------------
 *   unreachable | it never leaves, and the caller knows
 *   lost        | it gets lost on the way there; the caller hears of a broken connection
 *   answerLost  | it takes effect, the answer gets lost
 *   refused     | it is answered with a status, without effect
 *   slow        | it takes long
 *   stale       | a read shows what was there before the last write
 *   fails       | the operation that it begins ends Failed (Azure)
 *   cancelled   | the operation that it begins ends Canceled (Azure)
 *   crashBefore | the process dies as it is about to send it
 *   crashAfter  | the process dies after it took effect, before the answer
 */

export type Side = "azure" | "kube";

/** `leases`: Kubernetes calls of the election. Those are no others'. */
export type CallKind = "read" | "write" | "poll" | "lease";

export type TroubleKind =
  | "unreachable"
  | "lost"
  | "answerLost"
  | "refused"
  | "slow"
  | "stale"
  | "fails"
  | "cancelled"
  | "crashBefore"
  | "crashAfter";

export interface Trouble {
  readonly kind: TroubleKind;
  readonly side: Side;
  readonly calls: CallKind | "any";
  /** Of a refusal. */
  readonly status?: number;
  /** Calls that it is meant for, but lets pass first. */
  readonly skip: number;
  readonly times: number;
}

export interface Meeting {
  readonly side: Side;
  readonly call: CallKind;
}

/** How long a slow call takes, one way. */
export const SLOW_MS = { low: 2_000, high: 60_000 } as const;

interface Armed {
  readonly trouble: Trouble;
  skip: number;
  left: number;
}

export class TroubleBoard {
  readonly #nowMs: () => number;
  #armed: Armed[] = [];
  /** Until when something went wrong. */
  lastHitMs = Number.NEGATIVE_INFINITY;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  arm(trouble: Trouble): void {
    this.#armed.push({ trouble, skip: trouble.skip, left: trouble.times });
  }

  clear(): void {
    this.#armed = [];
  }

  /** The trouble that this call meets. Each call meets one at most. */
  meet({ side, call }: Meeting): Trouble | undefined {
    for (const armed of this.#armed) {
      const { trouble } = armed;
      if (trouble.side !== side || (trouble.calls !== call && !(trouble.calls === "any" && call !== "lease"))) continue;
      if (armed.skip-- > 0) continue;
      armed.left -= 1;
      if (armed.left === 0) this.#armed = this.#armed.filter((other) => other !== armed);
      this.lastHitMs = Math.max(this.lastHitMs, this.#nowMs() + (trouble.kind === "slow" ? 2 * SLOW_MS.high : 0));
      return trouble;
    }
    return undefined;
  }
}
