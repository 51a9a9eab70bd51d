/**
 * Approves Scheduled Events early, where that is asked for: Azure carries an event out as soon as one of its machines says so.
 * Each machine of the event would go, so it is approved only after all of them have been out of their load balancers for a grace,
 * counted by this process from when it first saw that. Freezes are never approved: no node is drained for them. Which machines
 * are out is `machines-out.ts`'s. Where the Nodes cannot be read nothing is approved, and the event takes its time.
 */
import type { Node } from "../core/model/kubernetes.ts";
import type { Clock } from "../core/util/clock.ts";
import type { Log } from "../core/util/log.ts";
import { errorText } from "../core/util/text.ts";
import type { MetadataClient } from "./metadata-client.ts";
import { machineStillIn } from "./machines-out.ts";
import type { ScheduledEvent } from "./scheduled-events.ts";

export interface ApproverOptions {
  readonly graceMs: number;
  readonly metadata: Pick<MetadataClient, "approve">;
  readonly nodes: (signal: AbortSignal) => Promise<readonly Node[]>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A list of all Nodes is large. */
const LOOK_EVERY_MS = 2_000;
const TIMEOUT_MS = 10_000;

export class Approver {
  readonly #options: ApproverOptions;
  /** By id of the event: since when all its machines are out. */
  readonly #outSinceMs = new Map<string, number>();
  readonly #approved = new Set<string>();
  #looking: Promise<void> | undefined;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #problem = "";

  constructor(options: ApproverOptions) {
    this.#options = options;
  }

  /** `events`: those about this machine, as announced now. Does not wait: metadata is asked for meanwhile. */
  look(events: readonly ScheduledEvent[], signal: AbortSignal): void {
    const nowMs = this.#options.clock.monotonicMs();
    const open = events.filter(
      ({ id, type, status }) => type !== "Freeze" && status === "Scheduled" && !this.#approved.has(id),
    );
    this.#forgetAllBut(events);
    if (open.length === 0 || this.#looking !== undefined || nowMs - this.#lookedMs < LOOK_EVERY_MS) return;
    this.#lookedMs = nowMs;
    this.#looking = this.#decide(open, signal)
      .then(() => void (this.#problem = ""))
      .catch((error: unknown) => this.#complain(errorText(error), signal))
      .finally(() => (this.#looking = undefined));
  }

  /** Resolves when nothing is under way any more. */
  async over(): Promise<void> {
    await this.#looking;
  }

  async #decide(events: readonly ScheduledEvent[], signal: AbortSignal): Promise<void> {
    const { graceMs, nodes, metadata, clock, log } = this.#options;
    const known = await nodes(signal).catch((error: unknown) => {
      this.#outSinceMs.clear();
      throw error;
    });
    const nowMs = clock.monotonicMs();
    for (const event of events) {
      const { id, type } = event;
      if (machineStillIn(event, known) !== undefined) {
        this.#outSinceMs.delete(id);
        continue;
      }
      const sinceMs = this.#outSinceMs.get(id) ?? nowMs;
      this.#outSinceMs.set(id, sinceMs);
      if (nowMs - sinceMs < graceMs) continue;
      await metadata.approve(id, TIMEOUT_MS, signal);
      this.#approved.add(id);
      log.info(`${type} is approved: all its machines are out of their load balancers`, { event: id });
    }
  }

  #forgetAllBut(events: readonly ScheduledEvent[]): void {
    const ids = new Set(events.map(({ id }) => id));
    for (const id of this.#outSinceMs.keys()) if (!ids.has(id)) this.#outSinceMs.delete(id);
    for (const id of this.#approved) if (!ids.has(id)) this.#approved.delete(id);
  }

  #complain(problem: string, signal: AbortSignal): void {
    if (problem !== this.#problem && !signal.aborted) this.#options.log.warn(`nothing is approved: ${problem}`);
    this.#problem = problem;
  }
}
