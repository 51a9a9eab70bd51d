/**
 * Serves open watches: sends frames with backpressure, sends bookmarks, ends watches at their timeout, and lets tests cut
 * them. Frames are queued as references, so a slow client costs little memory; one that falls too far behind is cut.
 */
import type { ServerResponse } from "node:http";

import type { HistoryEntry, OpenWatch, WatchFrame } from "../model/contract.ts";

const BOOKMARK_EVERY_MS = 60_000;
const LAST_BOOKMARK_BEFORE_END_MS = 2_000;
const MOST_WAITING_FRAMES = 1_000_000;
const PIECE_BYTES = 64 * 1024;
/** The longest delay of a Node timer. */
const LONGEST_MS = 2 ** 31 - 1;

interface Source {
  subscribe(listener: (entry: HistoryEntry) => void): () => void;
  readonly state: { readonly revision: number };
  readonly nowMs: number;
}

export class WatchHub {
  readonly #source: Source;
  readonly #open = new Set<WatchStream>();

  constructor(source: Source) {
    this.#source = source;
  }

  /** The collections being watched, one entry per open watch. */
  list(): readonly string[] {
    return [...this.#open].map((stream) => stream.collection);
  }

  /** Takes over the response until the watch ends. */
  serve(watch: OpenWatch, response: ServerResponse): void {
    response.statusCode = 200;
    response.setHeader("Content-Type", "application/json");
    response.setHeader("Cache-Control", "no-cache, private");
    response.flushHeaders();
    const stream = new WatchStream(watch, response, this.#source);
    this.#open.add(stream);
    response.on("close", () => {
      stream.stop();
      this.#open.delete(stream);
    });
    stream.start();
  }

  /** Ends the watches of a collection (or all), by a clean end of the stream or by closing the connection. */
  cut(how: "close" | "destroy", collection?: string): number {
    const chosen = [...this.#open].filter((stream) => collection === undefined || stream.collection === collection);
    for (const stream of chosen) stream.cut(how);
    return chosen.length;
  }
}

class WatchStream {
  readonly #watch: OpenWatch;
  readonly #response: ServerResponse;
  readonly #source: Source;
  readonly #timers: NodeJS.Timeout[] = [];
  #waiting: WatchFrame[] = [];
  #unsubscribe: () => void = () => {};
  #flowing = true;
  #ending = false;

  constructor(watch: OpenWatch, response: ServerResponse, source: Source) {
    this.#watch = watch;
    this.#response = response;
    this.#source = source;
  }

  get collection(): string {
    return this.#watch.collection;
  }

  start(): void {
    const timeoutMs = Math.min(this.#watch.timeoutMs, LONGEST_MS);
    this.#unsubscribe = this.#source.subscribe((entry) => this.#queue(this.#watch.accept(entry, this.#source.nowMs)));
    this.#response.on("drain", () => {
      this.#flowing = true;
      this.#pump();
    });
    this.#timers.push(setInterval(() => this.#bookmark(), BOOKMARK_EVERY_MS));
    this.#timers.push(setTimeout(() => this.#bookmark(), Math.max(0, timeoutMs - LAST_BOOKMARK_BEFORE_END_MS)));
    this.#timers.push(setTimeout(() => this.cut("close"), timeoutMs));
    this.#queue(this.#watch.first);
    if (this.#watch.ended) this.cut("close");
  }

  stop(): void {
    this.#noMore();
    this.#waiting = [];
  }

  cut(how: "close" | "destroy"): void {
    this.#noMore();
    if (how === "destroy") this.#response.destroy();
    this.#ending = true;
    this.#pump();
  }

  /** The connection of a slow client may stay open long after the end of the stream. */
  #noMore(): void {
    this.#unsubscribe();
    for (const timer of this.#timers.splice(0)) clearTimeout(timer);
  }

  #bookmark(): void {
    const frame = this.#watch.bookmark(this.#source.state.revision);
    if (frame !== undefined) this.#queue([frame]);
  }

  #queue(frames: readonly WatchFrame[]): void {
    for (const frame of frames) this.#waiting.push(frame);
    if (this.#waiting.length > MOST_WAITING_FRAMES) this.cut("destroy");
    else this.#pump();
  }

  #pump(): void {
    let at = 0;
    while (this.#flowing && at < this.#waiting.length) {
      let piece = "";
      while (piece.length < PIECE_BYTES && at < this.#waiting.length) piece += line(this.#waiting[at++] as WatchFrame);
      this.#flowing = this.#response.write(piece);
    }
    if (at > 0) this.#waiting = this.#waiting.slice(at);
    if (this.#ending && this.#waiting.length === 0 && !this.#response.writableEnded) this.#response.end();
  }
}

/** Many watches send the same object in a row: it is serialized once. */
let lastObject: unknown;
let lastText = "";

function line(frame: WatchFrame): string {
  if (frame.object !== lastObject) {
    lastObject = frame.object;
    lastText = JSON.stringify(frame.object);
  }
  return `{"type":"${frame.type}","object":${lastText}}\n`;
}
