/**
 * One open watch. Its frames arrive in order, some time after they were made: the feed lags by what is drawn, or until a
 * trouble lets it go on, and other feeds lag otherwise. It ends in good order, or broken, or when its reader leaves.
 */
import type { HistoryEntry, OpenWatch, WatchFrame } from "../../sandbox/kubernetes/model/contract.ts";
import type { EmbeddedApi } from "../../sandbox/kubernetes/model/embedded-api.ts";
import type { Chance } from "../environment/random.ts";
import type { Process, Timeline } from "../environment/timeline.ts";

const BOOKMARK_EVERY_MS = 60_000;
/** Most frames come soon, some late. */
const LAG_MS = { usual: 20, late: 3_000, lateShare: 0.05 } as const;

export interface WatchFeedOptions {
  readonly api: EmbeddedApi;
  readonly timeline: Timeline;
  readonly chance: Chance;
  readonly process: Process;
  readonly watch: OpenWatch;
  /** Frames for the reader to begin with. */
  readonly first: readonly WatchFrame[];
  readonly signal: AbortSignal;
  /** The reader has been told of everything up to this version. */
  readonly onTold: (collection: string, revision: number) => void;
}

type Ending = { readonly kind: "end" } | { readonly kind: "broken"; readonly error: unknown };

export class WatchFeed implements AsyncIterable<Uint8Array> {
  readonly collection: string;
  readonly process: Process;
  readonly #options: WatchFeedOptions;
  #waiting: { readonly frame: WatchFrame; readonly revision: number }[] = [];
  /** Nothing arrives before. */
  #heldUntilMs = 0;
  #isDue = false;
  #chunks: Uint8Array[] = [];
  #ending: Ending | undefined;
  #reader: PromiseWithResolvers<IteratorResult<Uint8Array>> | undefined;
  #unsubscribe: () => void = () => {};
  isOpen = true;

  constructor(options: WatchFeedOptions) {
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

  /** Holds back what is on its way. */
  hold(forMs: number): void {
    this.#heldUntilMs = Math.max(this.#heldUntilMs, this.#options.timeline.elapsedMs + forMs);
  }

  /** Breaks it: what is on its way is lost. */
  cut(error: unknown): void {
    this.#end({ kind: "broken", error });
  }

  /** Its reader is no more. */
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
    for (const frame of frames) this.#waiting.push({ frame, revision });
    if (this.#waiting.length > 0 && !this.#isDue) this.#deliverLater();
  }

  #deliverLater(): void {
    const { timeline, chance, process } = this.#options;
    const limitMs = chance.isLucky(LAG_MS.lateShare) ? LAG_MS.late : LAG_MS.usual;
    const lagMs = Math.max(chance.between(0, limitMs), this.#heldUntilMs - timeline.elapsedMs);
    this.#isDue = true;
    timeline.after(lagMs, () => this.#deliver(), process);
  }

  /** All that waits, or only a part of it: frames travel in pieces. */
  #deliver(): void {
    const { timeline, chance, onTold } = this.#options;
    this.#isDue = false;
    if (this.#ending !== undefined) return;
    if (timeline.elapsedMs < this.#heldUntilMs) return this.#deliverLater();
    const count = chance.isLucky(0.2) ? 1 : this.#waiting.length;
    const told = this.#waiting.splice(0, count);
    const last = told.at(-1);
    if (last === undefined) return;
    if (last.frame.type !== "ERROR") onTold(this.collection, last.revision);
    const text = told
      .map(({ frame }) => `{"type":"${frame.type}","object":${JSON.stringify(frame.object)}}\n`)
      .join("");
    this.#chunks.push(Buffer.from(text));
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

  /** In good order: what waits is still told. */
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
    if (chunk !== undefined) reader.resolve({ done: false, value: chunk });
    else if (this.#ending?.kind === "broken") reader.reject(this.#ending.error);
    else reader.resolve({ done: true, value: undefined });
  }
}
