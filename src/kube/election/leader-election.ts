/**
 * One leader at a time, by a Lease, as client-go has it: a leader that cannot renew for `renewDeadlineMs` stops acting;
 * a follower that sees the lease unchanged for its whole duration, on its own clock, takes it over. Clocks of different
 * machines are never compared.
 *
 * Unlike client-go, it is one leader also when a user deletes the Lease, or clears its holder: the absence of a Lease does
 * not say that no process leads.
 *
 *   a process finds                          | it leads
 *   -----------------------------------------|--------------------------------------------------------------------------
 *   a Lease that was released                | at once
 *   a Lease unchanged for its whole duration | at once
 *   no Lease                                 | with the first renewal after a whole duration since it created one: the
 *                                            | fence of a former holder ends before that
 *   its own Lease gone, while it leads       | on, if it creates the Lease again while its fence holds: no other
 *                                            | candidate leads before that fence would have ended
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
  /** Written into the Lease by this process while it holds it, for those that wait. */
  readonly annotations?: () => Readonly<Record<string, string>>;
  /** The Lease was seen with another holder than before; `""`: with none. For logs. */
  readonly onHolder?: (holder: string) => void;
  /** An attempt failed, for logs; it is repeated. */
  readonly onProblem?: (error: unknown) => void;
  /** There was no Lease, and this process has created it: it leads after so long. */
  readonly onWait?: (waitMs: number) => void;
}

type Callbacks = "annotations" | "onHolder" | "onProblem" | "onWait";

/** client-go's: a follower waits 1 to 2.2 periods, so that followers do not move in step. */
const FOLLOWER_JITTER = 1.2;
/** How long a released lease is said to last, as with client-go. */
const RELEASED_SECONDS = 1;

export class LeaderElection {
  readonly #options: Required<Omit<LeaderElectionOptions, Callbacks>> & Pick<LeaderElectionOptions, Callbacks>;
  #lease: Lease | undefined;
  /** When the lease was last seen to change. */
  #changedMs = 0;
  /** An answer said that this process holds it, and none since that it does not. */
  #isHeld = false;
  /** When this process created the lease, so that it did not see a former holder leave. */
  #createdMs: number | undefined;

  constructor(options: LeaderElectionOptions) {
    this.#options = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000, ...options };
  }

  /** The leader's identity, as last seen; `""` if there is none. */
  get holder(): string {
    return this.#lease?.spec?.holderIdentity ?? "";
  }

  /** Of the Lease, as last seen: its holder's, or of a former one that had some. */
  annotation(key: string): string | undefined {
    return this.#lease?.metadata.annotations?.[key];
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
    const { clock, random, retryPeriodMs, onWait } = this.#options;
    let announcedMs: number | undefined;
    while (!signal.aborted) {
      const at = instantOf(clock);
      const isHeld = await this.#attempt(signal);
      const leftMs = this.#unseenHolderMs(at);
      if (isHeld && leftMs <= 0) return at;
      if (isHeld && this.#createdMs !== announcedMs) onWait?.(leftMs);
      announcedMs = this.#createdMs;
      const pauseMs = retryPeriodMs * (1 + FOLLOWER_JITTER * random());
      await clock.sleep(isHeld ? Math.min(pauseMs, leftMs) : pauseMs, signal).catch(() => {});
    }
    return undefined;
  }

  /** How long a former holder that this process did not see leave may still act, counted from `at`. */
  #unseenHolderMs({ monotonicMs }: Instant): number {
    const { leaseDurationMs } = this.#options;
    return this.#createdMs === undefined ? 0 : this.#createdMs + leaseDurationMs - monotonicMs;
  }

  async #keepRenewing(fence: LeaseFence, signal: AbortSignal): Promise<void> {
    const { clock, retryPeriodMs, identity } = this.#options;
    while (!signal.aborted) {
      await clock.sleep(retryPeriodMs, signal).catch(() => {});
      if (signal.aborted) return;
      // a renewal would keep followers waiting for a process that writes nothing any more
      if (!fence.holds()) return fence.lose("it was not renewed in time");
      const at = instantOf(clock);
      // a fence that ended during the attempt stays so: a Lease that was gone may have had another holder since
      if ((await this.#attempt(signal)) && fence.holds()) fence.renew(at);
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
      this.#isHeld = false;
    }
    if (this.#lease !== undefined && this.#heldByAnother(this.#lease)) return false;
    return this.#write(this.#lease, signal);
  }

  /** A holder that released it has shortened it: one without a holder that is as long as before was cleared by a user. */
  #heldByAnother({ spec }: Lease): boolean {
    const { clock, identity } = this.#options;
    const seconds = spec?.leaseDurationSeconds ?? 0;
    if (this.holder === identity || (this.holder === "" && seconds <= RELEASED_SECONDS)) return false;
    return clock.monotonicMs() < this.#changedMs + seconds * 1000;
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
    const told = this.#options.annotations?.() ?? {};
    const annotations = { ...known?.metadata.annotations, ...told };
    const metadata = { namespace, name, ...known?.metadata, ...(Object.keys(told).length > 0 && { annotations }) };
    try {
      this.#see(
        known === undefined
          ? await client.create<Lease>(LEASES, { metadata, spec }, signal)
          : await client.replace<Lease>(LEASES, { ...known, metadata, spec }, signal),
      );
      this.#noteHeld(known === undefined ? "created" : ours ? "kept" : "taken over");
      return true;
    } catch (error) {
      // a missing lease was deleted; a missing namespace goes to onProblem
      if (isFailure(error, known === undefined ? "alreadyExists" : "notFound", "conflict")) return false;
      throw error;
    }
  }

  #noteHeld(how: "created" | "kept" | "taken over"): void {
    const nowMs = this.#options.clock.monotonicMs();
    // one that is kept and was not known to be held was created by a request whose answer was lost
    if (how === "created" || (how === "kept" && !this.#isHeld)) this.#createdMs = nowMs;
    if (how === "taken over") this.#createdMs = undefined;
    this.#isHeld = true;
  }

  #see(lease: Lease): void {
    if (lease.spec?.holderIdentity !== this.#options.identity) this.#isHeld = false;
    if (!sameJson(lease.spec, this.#lease?.spec)) this.#changedMs = this.#options.clock.monotonicMs();
    const before = this.holder;
    this.#lease = lease;
    if (this.holder !== before) this.#options.onHolder?.(this.holder);
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
      leaseDurationSeconds: RELEASED_SECONDS,
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
