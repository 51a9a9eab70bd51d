/**
 * One per node: asks the machine's metadata for Scheduled Events each second and tells the cluster. At rest it sends nothing
 * to the API server.
 *
 *   what the metadata says                     | what the agent does
 *   -------------------------------------------|------------------------------------------------------------------
 *   an event about this machine                | an Event on the Node, and its taint where taints are written
 *   the event is not there any more            | an Event, and its own taint goes
 *   an event about other machines only         | nothing
 *   an answer that cannot be read, or none     | nothing: what was written stays. It asks again, less and less often
 *   an event that cannot be read among others  | the others count, and no taint goes
 *
 * Which taints, and whose they are, is `node-taints.ts`'s; the texts are `announcements.ts`'s; an early approval, where it is
 * asked for, is `approver.ts`'s.
 */
import type { Clock, Random } from "../core/util/clock.ts";
import type { Log } from "../core/util/log.ts";
import { errorText } from "../core/util/text.ts";
import { announcementOf, overOf } from "./announcements.ts";
import type { Approver } from "./approver.ts";
import type { MetadataClient } from "./metadata-client.ts";
import type { TaintRules } from "./node-taints.ts";
import type { NodeWriter } from "./node-writer.ts";
import { concerns, parseEventDocument, type EventDocument, type ScheduledEvent } from "./scheduled-events.ts";

export interface AgentOptions {
  readonly nodeName: string;
  readonly metadata: MetadataClient;
  readonly writer: NodeWriter;
  /** Absent: only Events are written, and the controller taints. */
  readonly taints?: TaintRules | undefined;
  /** Absent: events are left to take their time. */
  readonly approver?: Pick<Approver, "look" | "over"> | undefined;
  readonly pollMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** The first request enables Scheduled Events for the machine, which takes Azure up to two minutes. */
const FIRST_TIMEOUT_MS = 150_000;
const TIMEOUT_MS = 10_000;
const LONGEST_PAUSE_MS = 60_000;
/** After a failed write to the API server: notices are short. */
const LONGEST_RETRY_MS = 5_000;
/** An API server that is slow with the taint does not keep the Event back. */
const TAINT_FIRST_MS = 1_000;
/** While an event is announced, the Node is looked at again: it may have been created anew. */
const RECHECK_MS = 10_000;

type Outcome = PromiseSettledResult<void>;

export class Agent {
  readonly #options: AgentOptions;
  /** As Azure names it; unknown until the metadata service has told. */
  #machine: string | undefined;
  /** The document that was handled last, and when; `undefined`: it is to be handled again. */
  #handled: { readonly text: string; readonly atMs: number } | undefined;
  #isFirst = true;
  /** By id: those about this machine. */
  #known = new Map<string, ScheduledEvent>();
  /** By id and status. */
  readonly #announced = new Set<string>();
  #silences = 0;
  #writeFailures = 0;
  #problem = "";

  constructor(options: AgentOptions) {
    this.#options = options;
  }

  /** Runs until the signal is aborted; never fails. What it has written stays. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, approver } = this.#options;
    while (!signal.aborted) {
      const text = await this.#ask(signal);
      if (text !== undefined) {
        await this.#handle(text, signal);
        approver?.look([...this.#known.values()], signal);
      }
      await clock.sleep(this.#pauseMs(), signal).catch(() => {});
    }
    await approver?.over();
  }

  /** The document as it came; `undefined`: no answer. */
  async #ask(signal: AbortSignal): Promise<string | undefined> {
    const { metadata } = this.#options;
    try {
      this.#machine ??= await metadata.machineName(TIMEOUT_MS, signal);
      return await metadata.scheduledEvents(this.#isFirst ? FIRST_TIMEOUT_MS : TIMEOUT_MS, signal);
    } catch (error) {
      if (!signal.aborted) this.#silent(error);
      return undefined;
    }
  }

  async #handle(text: string, signal: AbortSignal): Promise<void> {
    const { log, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    const isDue = this.#handled === undefined || (this.#known.size > 0 && nowMs - this.#handled.atMs >= RECHECK_MS);
    if (this.#handled?.text !== text || isDue) {
      const document = this.#parse(text);
      if (document === undefined) return;
      const isDone = this.#conclude(await this.#tell(document, signal), signal);
      this.#handled = isDone ? { text, atMs: nowMs } : undefined;
      if (isDone) this.#isFirst = false;
    }
    if (this.#silences > 0) log.info("the metadata service answers again");
    this.#silences = 0;
  }

  #parse(text: string): EventDocument | undefined {
    try {
      return parseEventDocument(text);
    } catch (error) {
      this.#silent(error);
      return undefined;
    }
  }

  #silent(error: unknown): void {
    this.#silences += 1;
    // once: outside of Azure it would be said for ever
    if (this.#silences === 1) this.#options.log.warn(`no Scheduled Events, asking again: ${errorText(error)}`);
  }

  async #tell({ events, isComplete }: EventDocument, signal: AbortSignal): Promise<readonly Outcome[]> {
    const { nodeName, writer, taints, clock, log } = this.#options;
    const machine = this.#machine ?? "";
    const mine = events.filter((event) => concerns(event, machine));
    const over = isComplete ? [...this.#known.values()].filter(({ id }) => !mine.some((one) => one.id === id)) : [];
    for (const event of mine) {
      if (!this.#known.has(event.id)) log.info(`${event.type} ${event.status} ${event.notBefore}`, { event: event.id });
    }
    for (const event of over) log.info(`${event.type} is over or was cancelled`, { event: event.id });
    const nowMs = clock.nowMs();
    // at the start also without events: a taint of an earlier process may be left
    const mayTaint = taints !== undefined && (this.#isFirst || mine.length > 0 || over.length > 0);
    const news = mine.filter((event) => !this.#announced.has(`${event.id} ${event.status}`));
    const tainting = mayTaint ? writer.reconcile(mine, isComplete, taints, signal) : Promise.resolve();
    // the taint goes first: one that the controller wrote because of the Event would not be the agent's to remove
    await Promise.race([Promise.allSettled([tainting]), clock.sleep(TAINT_FIRST_MS, signal).catch(() => {})]);
    const outcomes = await Promise.allSettled([
      tainting,
      ...news.map(async (event) => {
        await writer.announce(announcementOf(event, nodeName, nowMs), signal);
        this.#announced.add(`${event.id} ${event.status}`);
      }),
      ...over.map(async (event) => {
        await writer.announce(overOf(event, nodeName, nowMs), signal);
        for (const status of ["Scheduled", "Started"]) this.#announced.delete(`${event.id} ${status}`);
        this.#known.delete(event.id);
      }),
    ]);
    for (const event of mine) this.#known.set(event.id, event);
    return outcomes;
  }

  /** Whether all of it was written. */
  #conclude(outcomes: readonly Outcome[], signal: AbortSignal): boolean {
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    this.#writeFailures = failed === undefined ? 0 : this.#writeFailures + 1;
    const problem = failed === undefined ? "" : errorText(failed.reason);
    const isNews = problem !== "" && problem !== this.#problem;
    if (isNews && !signal.aborted) this.#options.log.warn(`will try again: ${problem}`);
    this.#problem = problem;
    return failed === undefined;
  }

  #pauseMs(): number {
    const { pollMs, random } = this.#options;
    const spread = 0.5 + random() / 2;
    if (this.#silences > 0) return Math.min(LONGEST_PAUSE_MS, pollMs * 2 ** Math.min(this.#silences, 10)) * spread;
    if (this.#writeFailures > 1)
      return Math.min(LONGEST_RETRY_MS, pollMs * 2 ** Math.min(this.#writeFailures, 10)) * spread;
    return pollMs;
  }
}
