/**
 * The brake on blast radius, at work: the place that every write passes which takes an address from a Service, and that
 * knows what was taken before. What counts as a loss is `core/plan/lost-addresses.ts`'s to say, and which members a pool
 * keeps `core/brake/pool-brake.ts`'s; here are the memory of both, the count over all Services, and the releases.
 *
 *   a write takes an address from                      | it
 *   ---------------------------------------------------|------------------------------------------------------------
 *   a Service that changed itself, or is being deleted | goes
 *   a Service of a change that was accepted at the start | goes
 *   a Service that an operator has released            | goes, once
 *   at most `limits.services` others within the window | goes, after a short wait for others that would lose, too
 *   more                                               | waits, and so does each of them, until released
 *
 * All of it is in memory: after a restart what is withheld is found again by the same decisions.
 */
import { BRAKE_WINDOW_MS, type BrakeLimits } from "../../core/brake/brake-limits.ts";
import { isLeaving, type PoolBrake } from "../../core/brake/pool-brake.ts";
import {
  addressWrite,
  isWithheld,
  type WithheldMembers,
  type WithheldService,
  type WithheldWrites,
} from "../../core/brake/withheld-writes.ts";
import { serviceKey, type Node, type Service } from "../../core/model/kubernetes.ts";
import type { Observed } from "../../core/observed.ts";
import type { Rejection } from "../../core/outcome.ts";
import { lostAddresses } from "../../core/plan/lost-addresses.ts";
import { nodesInService } from "../../core/resources/braked-own-pools.ts";
import { ownMembersOfPools, withheldInPools } from "../../core/resources/braked-pools.ts";
import type { PoolsInput } from "../../core/resources/managed-pools.ts";
import { specFingerprint } from "../../core/service/applied-state.ts";
import type { Step } from "../../core/steps.ts";
import type { Clock } from "../../core/util/clock.ts";
import type { Metrics } from "../metrics.ts";
import { RecentMembers } from "./recent-members.ts";

export interface BrakeOptions {
  readonly limits: BrakeLimits;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, "withheld">;
  /** Something begins to be withheld. */
  readonly onEngaged: () => void;
}

/** How long the first Service that would lose an address waits for others. */
const GATHER_MS = 500;
/** How long what is known of the pools is handed out as it is. */
const VIEW_MS = 1_000;

export class Brake {
  readonly #options: BrakeOptions;
  readonly #members: RecentMembers;
  /** By key: Services that would lose addresses and have not been let through. */
  readonly #pending = new Map<string, WithheldService>();
  readonly #withheldMembers = new Map<string, WithheldMembers>();
  /** By key: when an address was taken from the Service. */
  readonly #taken = new Map<string, number>();
  /** Keys of Services that were seen to change, whatever their annotations say, and are not settled since. */
  readonly #changed = new Set<string>();
  /** By write: until when it may go. */
  readonly #released = new Map<string, number>();
  /** By key: the release that a Service goes by until it is settled. */
  readonly #using = new Map<string, string>();
  #exempt: ReadonlySet<string> = new Set();
  #view: { readonly pools: PoolBrake; readonly untilMs: number } | undefined;

  constructor(options: BrakeOptions) {
    this.#options = options;
    this.#members = new RecentMembers(options.clock, BRAKE_WINDOW_MS);
  }

  /** `undefined`: the steps may be taken. */
  async admit(observed: Observed, steps: readonly Step[], signal: AbortSignal): Promise<Rejection | undefined> {
    const service = serviceKey(observed.service);
    const { metadata, status } = observed.service;
    const isPublished = (status.loadBalancer.ingress ?? []).length > 0;
    const isExempt = !isPublished || this.#changed.has(service) || this.#exempt.has(service);
    const addresses = isExempt ? [] : lostAddresses(observed, steps);
    const loss: WithheldService = { service, uid: metadata.uid, addresses };
    if (addresses.length === 0 || this.#isReleased(addressWrite(loss))) {
      if (addresses.length > 0) this.#using.set(service, addressWrite(loss));
      this.clear(service);
      return undefined;
    }
    const isKnown = this.#pending.has(service);
    this.#pending.set(service, loss);
    if (!isKnown) await this.#options.clock.sleep(GATHER_MS, signal);
    return this.#count(loss);
  }

  /** What the pools' decisions need; every decision asks for it, so it is made anew where something is noted or expires. */
  get pools(): PoolBrake {
    const now = this.#options.clock.monotonicMs();
    if (this.#view === undefined || this.#view.untilMs <= now) {
      const { recent, departed } = this.#members;
      const pools = { limits: this.#options.limits, recent, departed, released: this.#releasedWrites() };
      this.#view = { pools, untilMs: now + VIEW_MS };
    }
    return this.#view.pools;
  }

  /** The pools were observed. A member that was released and is gone has used its release up. */
  notePools(input: PoolsInput): void {
    const members = ownMembersOfPools(input);
    this.#members.note(members, nodesInService(input));
    for (const write of this.#releasedWrites()) {
      const [kind, pool = "", name = ""] = write.split(" ");
      if (kind !== "member" || members.get(pool)?.has(name) !== false) continue;
      this.#released.delete(write);
      this.#members.depart(name);
    }
    this.#view = undefined;
    this.#withheldMembers.clear();
    for (const each of withheldInPools({ ...input, brake: this.pools })) this.#withheldMembers.set(each.pool, each);
    this.#measure();
  }

  noteNode(node: Node, isGone: boolean): void {
    this.#view = undefined;
    if (!isGone) this.#members.stay(node.metadata.name.toLowerCase());
    else if (isLeaving(node)) this.#members.depart(node.metadata.name.toLowerCase());
  }

  /** A Service that changes does so by itself, even if it says that this spec was applied before. */
  noteChange(old: Service, now: Service): void {
    if (specFingerprint(old) !== specFingerprint(now)) this.#changed.add(serviceKey(now));
  }

  /** The Service is as it asks for, or gone. */
  settled(key: string): void {
    this.#released.delete(this.#using.get(key) ?? "");
    this.#using.delete(key);
    this.#changed.delete(key);
    this.clear(key);
  }

  /** Nothing would be taken from the Service now. */
  clear(key: string): void {
    if (this.#pending.delete(key)) this.#measure();
  }

  /** Services whose addresses may go for as long as this process runs: those of a change that a user has accepted. */
  exempt(keys: ReadonlySet<string>): void {
    this.#exempt = keys;
  }

  /** Lets these writes through, each once, for so long. */
  release(writes: readonly string[], forMs: number): void {
    const until = this.#options.clock.monotonicMs() + forMs;
    for (const write of writes) this.#released.set(write, until);
    this.#view = undefined;
  }

  get withheld(): WithheldWrites {
    return { services: [...this.#pending.values()], members: [...this.#withheldMembers.values()] };
  }

  #count(loss: WithheldService): Rejection | undefined {
    const { limits, clock } = this.#options;
    const now = clock.monotonicMs();
    for (const [key, atMs] of this.#taken) if (now - atMs > BRAKE_WINDOW_MS) this.#taken.delete(key);
    const concerned = new Set([...this.#taken.keys(), ...this.#pending.keys()]);
    if (concerned.size <= limits.services) {
      this.#taken.set(loss.service, now);
      this.clear(loss.service);
      return undefined;
    }
    this.#measure();
    return rejectionOf(loss, limits);
  }

  #isReleased(write: string): boolean {
    return (this.#released.get(write) ?? 0) > this.#options.clock.monotonicMs();
  }

  #releasedWrites(): ReadonlySet<string> {
    return new Set([...this.#released.keys()].filter((write) => this.#isReleased(write)));
  }

  #measure(): void {
    const { metrics, onEngaged } = this.#options;
    const { services, members } = this.withheld;
    metrics.withheld.set({ what: "addresses" }, services.length);
    metrics.withheld.set(
      { what: "members" },
      members.reduce((sum, { members: names }) => sum + names.length, 0),
    );
    if (isWithheld(this.withheld)) onEngaged();
  }
}

function rejectionOf({ addresses }: WithheldService, { services }: BrakeLimits): Rejection {
  const message =
    `more than ${services} Services that did not change would lose an address at once, this one ${addresses.join(", ")}: ` +
    "the write waits. Correct what causes it, a setting of the controller or an edit in Azure; or, if it is intended, a " +
    "cluster operator runs azlb plan and azlb release-brake";
  return { kind: "rejection", reason: "WriteWithheld", message };
}
