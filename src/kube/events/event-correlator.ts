/**
 * Which events are worth a write. Pure: the recorder hands in the time and sends. The numbers are those of other
 * controllers, so that users see neither more nor fewer events:
 *
 *   the same again                        | the stored event's count goes up
 *   10 similar ones (all but the message) | from then on one event "(combined from similar events)", for 10 minutes
 *   25 about one object                   | then one per 5 minutes; what is left out still counts
 */
import type { EventText } from "../../core/events/event-reasons.ts";

interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid: string;
}

export interface ObjectEvent extends EventText {
  readonly about: EventSubject;
}

/** One event as it should be stored by now. */
export interface Tally extends ObjectEvent {
  message: string;
  count: number;
  readonly firstMs: number;
  lastMs: number;
}

const SIMILAR_LIMIT = 10;
const SIMILAR_WINDOW_MS = 600_000;
const BURST = 25;
const REFILL_MS = 300_000;
const REMEMBERED = 4096;

interface Similar {
  readonly messages: Set<string>;
  lastMs: number;
}

interface Bucket {
  tokens: number;
  filledMs: number;
}

export class EventCorrelator {
  readonly #similar = new Recent<Similar>(REMEMBERED);
  readonly #tallies = new Recent<Tally>(REMEMBERED);
  readonly #buckets = new Recent<Bucket>(REMEMBERED);

  /** The tally to store now, or nothing if that would be too much. */
  observe(event: ObjectEvent, nowMs: number): Tally | undefined {
    const { about, type, reason } = event;
    const subject = `${about.kind} ${about.namespace}/${about.name} ${about.uid}`;
    const group = `${subject} ${type} ${reason}`;
    const combined = this.#tooManyAlike(group, event.message, nowMs);
    const message = combined ? `(combined from similar events): ${event.message}` : event.message;
    const tally = this.#tally(combined ? group : `${group}\n${message}`, { ...event, message }, nowMs);
    return this.#affordable(subject, nowMs) ? tally : undefined;
  }

  #tooManyAlike(group: string, message: string, nowMs: number): boolean {
    let similar = this.#similar.get(group);
    if (similar === undefined || nowMs - similar.lastMs > SIMILAR_WINDOW_MS)
      similar = { messages: new Set(), lastMs: 0 };
    similar.lastMs = nowMs;
    this.#similar.set(group, similar);
    if (similar.messages.size >= SIMILAR_LIMIT) return !similar.messages.has(message);
    similar.messages.add(message);
    return false;
  }

  #tally(key: string, event: ObjectEvent, nowMs: number): Tally {
    const tally = this.#tallies.get(key) ?? { ...event, count: 0, firstMs: nowMs, lastMs: nowMs };
    tally.count += 1;
    tally.lastMs = nowMs;
    tally.message = event.message;
    this.#tallies.set(key, tally);
    return tally;
  }

  #affordable(subject: string, nowMs: number): boolean {
    const bucket = this.#buckets.get(subject) ?? { tokens: BURST, filledMs: nowMs };
    bucket.tokens = Math.min(BURST, bucket.tokens + (nowMs - bucket.filledMs) / REFILL_MS);
    bucket.filledMs = nowMs;
    this.#buckets.set(subject, bucket);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }
}

/** A map that forgets what was not used for longest. */
class Recent<V> {
  readonly #entries = new Map<string, V>();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(key: string): V | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    const [oldest] = this.#entries.size > this.#capacity ? this.#entries.keys() : [];
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}
