/**
 * One leader at a time, by a Lease, as client-go has it: a leader that cannot renew for `renewDeadlineMs` stops acting;
 * a follower that sees the lease unchanged for its whole duration, on its own clock, takes it over. Clocks of different
 * machines are never compared.
 *
 * The leader gets a `Fence`. Everything that it writes passes through that, so that nothing leaves the process
 * once the lease is lost, even if the process slept through the loss.
 */
import type { Clock, Random } from "../../core/util/clock.ts";
import { CancelScope } from "../client/transport.ts";
import { type Fence, instantOf, LeaseFence, type Instant, microTime, type Lease } from "./lease.ts";
import type { KubeClient } from "../client/kube-client.ts";
import { isFailure } from "../client/kube-failure.ts";
import { LEASES, sameJson } from "../client/resources.ts";

export interface LeaderElectionOptions {
  /** Without a fence: it makes one. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly namespace: string;
  readonly name: string;
  /** Unique to this process, also among its own restarts. */
  readonly identity: string;
  readonly leaseDurationMs?: number;
  readonly renewDeadlineMs?: number;
  readonly retryPeriodMs?: number;
  /** An attempt failed, for logs; it is repeated. */
  readonly onProblem?: (error: unknown) => void;
}

/** client-go's: a follower waits 1 to 2.2 periods, so that followers do not move in step. */
const FOLLOWER_JITTER = 1.2;

export class LeaderElection {
  readonly #options: Required<Omit<LeaderElectionOptions, "onProblem">> & Pick<LeaderElectionOptions, "onProblem">;
  #lease: Lease | undefined;
  /** When the lease was last seen to change. */
  #changedMs = 0;

  constructor(options: LeaderElectionOptions) {
    this.#options = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000, ...options };
  }

  /** The leader's identity, as last seen; `""` if there is none. */
  get holder(): string {
    return this.#lease?.spec?.holderIdentity ?? "";
  }

  /**
   * Waits for the lease and leads. `lead` must return soon after either signal is aborted: the caller's (stop in
   * good order: the lease is kept until `lead` returns, then released) or the fence's (it is lost already).
   * Tells which one it was. Passes on what `lead` throws.
   */
  async run(signal: AbortSignal, lead: (fence: Fence) => Promise<void>): Promise<"stopped" | "lost"> {
    const acquired = await this.#acquire(signal);
    if (acquired === undefined) return "stopped";
    const fence = new LeaseFence(this.#options.clock, this.#options.renewDeadlineMs, acquired);
    using renewing = new CancelScope(fence.signal);
    const renewal = this.#keepRenewing(fence, renewing.signal);
    let lost = false;
    try {
      await lead(fence);
    } finally {
      renewing.abort(new Error("the leadership term is over"));
      await renewal;
      lost = !fence.holds();
      if (!lost) await this.#release();
      fence.lose("the leadership term is over");
    }
    return lost ? "lost" : "stopped";
  }

  async #acquire(signal: AbortSignal): Promise<Instant | undefined> {
    const { clock, random, retryPeriodMs } = this.#options;
    while (!signal.aborted) {
      const at = instantOf(clock);
      if (await this.#attempt(signal)) return at;
      await clock.sleep(retryPeriodMs * (1 + FOLLOWER_JITTER * random()), signal).catch(() => {});
    }
    return undefined;
  }

  async #keepRenewing(fence: LeaseFence, signal: AbortSignal): Promise<void> {
    const { clock, retryPeriodMs, identity } = this.#options;
    while (!signal.aborted) {
      await clock.sleep(retryPeriodMs, signal).catch(() => {});
      if (signal.aborted) return;
      const at = instantOf(clock);
      if (await this.#attempt(signal)) fence.renew(at);
      else if (this.holder !== identity) fence.lose(`${this.holder || "someone"} holds it now`);
    }
  }

  /** One try to get or keep the lease, whatever the server does. */
  async #attempt(signal: AbortSignal): Promise<boolean> {
    try {
      return await this.#soon((soon) => this.#getOrKeep(soon), signal);
    } catch (error) {
      if (!signal.aborted) this.#options.onProblem?.(error);
      return false;
    }
  }

  /** Half the deadline: one slow answer must leave time for another try. */
  async #soon<R>(work: (signal: AbortSignal) => Promise<R>, signal?: AbortSignal): Promise<R> {
    const { clock, renewDeadlineMs } = this.#options;
    using scope = new CancelScope(signal);
    const late = new Error(`the lease was not answered for within ${renewDeadlineMs / 2} ms`);
    const timer = clock.setTimer(renewDeadlineMs / 2, () => scope.abort(late));
    try {
      return await work(scope.signal);
    } finally {
      timer.cancel();
    }
  }

  async #getOrKeep(signal: AbortSignal): Promise<boolean> {
    const { client, identity, namespace, name } = this.#options;
    if (this.#lease !== undefined && this.holder === identity && (await this.#write(this.#lease, signal))) return true;
    try {
      this.#see(await client.get<Lease>(LEASES, { namespace, name }, signal));
    } catch (error) {
      if (!isFailure(error, "notFound")) throw error;
      this.#lease = undefined;
    }
    if (this.#lease !== undefined && this.#heldByAnother(this.#lease)) return false;
    return this.#write(this.#lease, signal);
  }

  #heldByAnother({ spec }: Lease): boolean {
    const { clock, identity } = this.#options;
    if (this.holder === "" || this.holder === identity) return false;
    return clock.monotonicMs() < this.#changedMs + (spec?.leaseDurationSeconds ?? 0) * 1000;
  }

  /** Writes this process as the holder. False if the lease changed meanwhile: another process was faster. */
  async #write(known: Lease | undefined, signal: AbortSignal): Promise<boolean> {
    const { client, clock, identity, leaseDurationMs, namespace, name } = this.#options;
    const now = microTime(clock.nowMs());
    const before = known?.spec;
    const ours = before?.holderIdentity === identity;
    const spec = {
      ...before,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
      acquireTime: ours ? (before.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: known === undefined ? 0 : (before?.leaseTransitions ?? 0) + (ours ? 0 : 1),
    };
    try {
      this.#see(
        known === undefined
          ? await client.create<Lease>(LEASES, { metadata: { namespace, name }, spec }, signal)
          : await client.replace<Lease>(LEASES, { ...known, spec }, signal),
      );
      return true;
    } catch (error) {
      // a missing lease was deleted; a missing namespace goes to onProblem
      if (isFailure(error, known === undefined ? "alreadyExists" : "notFound", "conflict")) return false;
      throw error;
    }
  }

  #see(lease: Lease): void {
    if (!sameJson(lease.spec, this.#lease?.spec)) this.#changedMs = this.#options.clock.monotonicMs();
    this.#lease = lease;
  }

  /** So that the next leader need not wait. Best effort: if it fails, the lease runs out by itself. */
  async #release(): Promise<void> {
    const { client, clock, onProblem } = this.#options;
    if (this.#lease === undefined) return;
    const lease = this.#lease;
    const now = microTime(clock.nowMs());
    const spec = {
      ...this.#lease?.spec,
      holderIdentity: "",
      leaseDurationSeconds: 1,
      acquireTime: now,
      renewTime: now,
    };
    try {
      await this.#soon((signal) => client.replace<Lease>(LEASES, { ...lease, spec }, signal));
    } catch (error) {
      onProblem?.(error);
    }
  }
}
