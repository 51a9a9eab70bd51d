/**
 * Faults of calls to Azure or Kubernetes. The history arms a fault; it lets the first `skip` matching calls succeed and
 * then affects the next `times`. An outage refuses all writes of one resource for a time. How a fault is carried out is
 * `network.ts`.
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
  /** `PUT Microsoft.Network/loadBalancers/kubernetes`. */
  readonly what: string;
}

/** For a while, Azure refuses every write of one resource. */
export interface Outage {
  /** The end of the resource's path: `loadBalancers/kubernetes`. */
  readonly resource: string;
  readonly status: number;
  readonly forMs: number;
}

/** After which a throttled call may be repeated at the latest. */
export const LONGEST_RETRY_AFTER_MS = 30_000;

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
  #outages: { readonly outage: Outage; readonly untilMs: number }[] = [];
  /** Path of a resource, in lower case → when an outage last refused a write of it. */
  readonly #outageHitsMs = new Map<string, number>();
  /** Until then a fault may have an effect; outages have their own times. */
  lastHitMs = Number.NEGATIVE_INFINITY;
  /** The first effect of a fault or an outage since `clear`. */
  #firstHitMs: number | undefined;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  arm(fault: Fault): void {
    this.#armed.push({ fault, skip: fault.skip, left: fault.times });
  }

  begin(outage: Outage): void {
    this.#outages.push({ outage, untilMs: this.#nowMs() + outage.forMs });
  }

  /** Ends all faults and outages; returns how long they have had an effect since the last call. */
  clear(): number {
    const lastMs = Math.max(this.lastHitMs, ...this.#outageHitsMs.values());
    const forMs = this.#firstHitMs === undefined ? 0 : lastMs - this.#firstHitMs;
    this.#armed = [];
    this.#outages = [];
    this.#firstHitMs = undefined;
    return forMs;
  }

  /** When an outage last refused a write of the resource; `path`: the end of its path. */
  outageHitMs(path: string): number {
    return this.#outageHitsMs.get(path.toLowerCase()) ?? Number.NEGATIVE_INFINITY;
  }

  /** The fault that affects this call; at most one does. */
  take(target: FaultTarget): Fault | undefined {
    const fault = this.#takeArmed(target) ?? this.#takeOutage(target);
    if (fault !== undefined) this.#firstHitMs ??= this.#nowMs();
    return fault;
  }

  #takeOutage({ side, call, what }: FaultTarget): Fault | undefined {
    if (side !== "azure" || call !== "write") return undefined;
    const path = what.toLowerCase();
    const found = this.#outages.find(
      ({ outage, untilMs }) => untilMs > this.#nowMs() && path.endsWith(`/${outage.resource.toLowerCase()}`),
    );
    if (found === undefined) return undefined;
    const { resource, status } = found.outage;
    this.#outageHitsMs.set(resource.toLowerCase(), this.#nowMs());
    return { kind: "refused", side, calls: call, status, skip: 0, times: 1 };
  }

  #takeArmed({ side, call }: FaultTarget): Fault | undefined {
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
