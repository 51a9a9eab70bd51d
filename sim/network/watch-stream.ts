/**
 * One open watch. Its frames arrive in order, each after a drawn delay or when a hold ends; streams lag independently of
 * each other. A stream ends normally, breaks, or is abandoned by its reader.
 */
import type { HistoryEntry, OpenWatch, WatchFrame } from "../../sandbox/kubernetes/model/contract.ts";
import type { EmbeddedApi } from "../../sandbox/kubernetes/model/embedded-api.ts";
import type { Random } from "../environment/random.ts";
import type { Process, Timeline } from "../environment/timeline.ts";

const BOOKMARK_EVERY_MS = 60_000;
/** Most frames arrive soon, some late. */
const LAG_MS = { usual: 20, late: 3_000, lateShare: 0.05 } as const;

export interface WatchStreamOptions {
  readonly api: EmbeddedApi;
  readonly timeline: Timeline;
  readonly random: Random;
  readonly process: Process;
  readonly watch: OpenWatch;
  /** The initial frames. */
  readonly first: readonly WatchFrame[];
  readonly signal: AbortSignal;
  /** The reader has taken every frame up to this revision; what arrived before it reads is not known to it. */
  readonly onDelivered: (collection: string, revision: number) => void;
}

interface Queued {
  readonly frame: WatchFrame;
  /** Up to which everything has come with this frame; `undefined`: more of the same comes. */
  readonly revision: number | undefined;
}

type Ending = { readonly kind: "end" } | { readonly kind: "broken"; readonly error: unknown };

export class WatchStream implements AsyncIterable<Uint8Array> {
  readonly collection: string;
  readonly process: Process;
  readonly #options: WatchStreamOptions;
  #waiting: Queued[] = [];
  /** No frame is delivered before that time. */
  #heldUntilMs = 0;
  #isDue = false;
  #chunks: { readonly bytes: Uint8Array; readonly revision: number | undefined }[] = [];
  #ending: Ending | undefined;
  #reader: PromiseWithResolvers<IteratorResult<Uint8Array>> | undefined;
  #unsubscribe: () => void = () => {};
  isOpen = true;

  constructor(options: WatchStreamOptions) {
    this.#options = options;
    this.collection = options.watch.collection;
    this.process = options.process;
    const { api, timeline, watch, signal, first } = options;
    this.#unsubscribe = api.subscribe((entry) => this.#accept(entry));
    signal.addEventListener("abort", () => this.cut(signal.reason), { once: true });
    this.#queue(first, api.state.revision);
    if (watch.ended) this.#finish();
    timeline.after(watch.timeoutMs, () => this.#finish(), options.process);
    this.#bookmarkLater();
  }

  /** Delays the frames that are not delivered yet. */
  hold(forMs: number): void {
    this.#heldUntilMs = Math.max(this.#heldUntilMs, this.#options.timeline.elapsedMs + forMs);
  }

  /** Breaks the connection: frames that are not delivered yet are lost. */
  cut(error: unknown): void {
    this.#end({ kind: "broken", error });
  }

  /** The process of the reader is dead. */
  abandon(): void {
    this.isOpen = false;
    this.#unsubscribe();
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: () => this.#next(),
      return: () => {
        this.#end({ kind: "end" });
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }

  #accept(entry: HistoryEntry): void {
    const { watch, timeline } = this.#options;
    this.#queue(watch.accept(entry, timeline.nowMs), entry.revision);
  }

  #queue(frames: readonly WatchFrame[], revision: number): void {
    const last = frames.at(-1);
    for (const frame of frames) this.#waiting.push({ frame, revision: frame === last ? revision : undefined });
    if (this.#waiting.length > 0 && !this.#isDue) this.#deliverLater();
  }

  #deliverLater(): void {
    const { timeline, random, process } = this.#options;
    const limitMs = random.bool(LAG_MS.lateShare) ? LAG_MS.late : LAG_MS.usual;
    const lagMs = Math.max(random.between(0, limitMs), this.#heldUntilMs - timeline.elapsedMs);
    this.#isDue = true;
    timeline.after(lagMs, () => this.#deliver(), process);
  }

  /** Delivers all waiting frames, or sometimes only the first. */
  #deliver(): void {
    const { timeline, random } = this.#options;
    this.#isDue = false;
    if (this.#ending !== undefined) return;
    if (timeline.elapsedMs < this.#heldUntilMs) return this.#deliverLater();
    const count = random.bool(0.2) ? 1 : this.#waiting.length;
    const delivered = this.#waiting.splice(0, count);
    if (delivered.length === 0) return;
    const isError = delivered.some(({ frame }) => frame.type === "ERROR");
    const revision = isError ? undefined : delivered.findLast((one) => one.revision !== undefined)?.revision;
    const text = delivered
      .map(({ frame }) => `{"type":"${frame.type}","object":${JSON.stringify(frame.object)}}\n`)
      .join("");
    this.#chunks.push({ bytes: Buffer.from(text), revision });
    this.#wake();
    if (this.#waiting.length > 0) this.#deliverLater();
  }

  #bookmarkLater(): void {
    const { api, timeline, process, watch } = this.#options;
    timeline.after(
      BOOKMARK_EVERY_MS,
      () => {
        if (!this.isOpen) return;
        const frame = watch.bookmark(api.state.revision);
        if (frame !== undefined) this.#queue([frame], api.state.revision);
        this.#bookmarkLater();
      },
      process,
    );
  }

  /** A normal end: waiting frames are delivered first. */
  #finish(): void {
    if (!this.isOpen) return;
    this.#heldUntilMs = 0;
    while (this.#waiting.length > 0 && this.#ending === undefined) this.#deliver();
    this.#end({ kind: "end" });
  }

  #end(ending: Ending): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#unsubscribe();
    this.#ending = ending;
    this.#wake();
  }

  #next(): Promise<IteratorResult<Uint8Array>> {
    this.#reader = Promise.withResolvers();
    const { promise } = this.#reader;
    this.#wake();
    return promise;
  }

  #wake(): void {
    const reader = this.#reader;
    if (reader === undefined) return;
    const chunk = this.#chunks.shift();
    if (chunk === undefined && this.#ending === undefined) return;
    this.#reader = undefined;
    if (chunk?.revision !== undefined) this.#options.onDelivered(this.collection, chunk.revision);
    if (chunk !== undefined) reader.resolve({ done: false, value: chunk.bytes });
    else if (this.#ending?.kind === "broken") reader.reject(this.#ending.error);
    else reader.resolve({ done: true, value: undefined });
  }
}
