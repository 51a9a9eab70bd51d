/**
 * Faults of calls to Azure or Kubernetes. The history arms a fault; it lets the first `skip` matching calls succeed and
 * then affects the next `times`. How a fault is carried out is `network.ts`.
 *
 *   kind        | what happens to the call
 *   ------------|--------------------------------------------------------------------------------
 *   unreachable | it is not sent, and the caller knows
 *   lost        | it is lost on the way; the caller sees a broken connection
 *   answerLost  | it takes effect, the answer is lost
 *   refused     | it is answered with a status, without effect
 *   slow        | it takes long
 *   stale       | a read returns a state from before the last write
 *   fails       | the operation that it starts ends Failed (Azure)
 *   cancelled   | the operation that it starts ends Canceled (Azure)
 *   crashBefore | the process dies just before it sends the call
 *   crashAfter  | the process dies after the call took effect, before the answer
 */

export type Side = "azure" | "kube";

/** `lease`: calls of the leader election to Kubernetes; they are neither `read` nor `write`, and `any` excludes them. */
export type CallKind = "read" | "write" | "poll" | "lease";

export type FaultKind =
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

export interface Fault {
  readonly kind: FaultKind;
  readonly side: Side;
  readonly calls: CallKind | "any";
  /** Status of the refusal, for `refused`. */
  readonly status?: number;
  /** Matching calls that succeed first. */
  readonly skip: number;
  /** Matching calls that are affected then. */
  readonly times: number;
}

export interface FaultTarget {
  readonly side: Side;
  readonly call: CallKind;
}

/** One-way latency of a slow call. */
export const SLOW_MS = { low: 2_000, high: 60_000 } as const;

interface Armed {
  readonly fault: Fault;
  skip: number;
  left: number;
}

export class FaultInjector {
  readonly #nowMs: () => number;
  #armed: Armed[] = [];
  /** Until then a fault may have an effect. */
  lastHitMs = Number.NEGATIVE_INFINITY;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  arm(fault: Fault): void {
    this.#armed.push({ fault, skip: fault.skip, left: fault.times });
  }

  clear(): void {
    this.#armed = [];
  }

  /** The fault that affects this call; at most one does. */
  take({ side, call }: FaultTarget): Fault | undefined {
    for (const armed of this.#armed) {
      const { fault } = armed;
      if (fault.side !== side || (fault.calls !== call && !(fault.calls === "any" && call !== "lease"))) continue;
      if (armed.skip-- > 0) continue;
      armed.left -= 1;
      if (armed.left === 0) this.#armed = this.#armed.filter((other) => other !== armed);
      this.lastHitMs = Math.max(this.lastHitMs, this.#nowMs() + (fault.kind === "slow" ? 2 * SLOW_MS.high : 0));
      return fault;
    }
    return undefined;
  }
}
