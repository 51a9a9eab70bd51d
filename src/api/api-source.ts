/**
 * What the API shows, as the process hands it in. Pictures are taken when a client asks, at most once in a while, and the
 * changes of a moment are told together: a cluster of thousands of Services costs the controller no more than a few
 * pictures in a second, however many ask.
 */
import type { DriftPolicy } from "../core/intent/service-intent.ts";
import type { Clock, Timer } from "../core/util/clock.ts";
import type { Picture } from "../core/view/picture.ts";
import type { NotedWrite } from "../core/view/write-view.ts";

export interface LeaderView {
  readonly leads: boolean;
  /** The identity of this process. */
  readonly identity: string;
  /** Who holds the Lease; empty: it has no holder, or was not read. */
  readonly holder: string;
}

interface ThrottleView {
  readonly subscription: string;
  readonly calls: "reads" | "writes" | "deletes";
  /** Calls that may leave at once, as estimated, and how many there may ever be. */
  readonly tokens: number;
  readonly size: number;
  readonly waiting: number;
  /** Until when Azure told to wait, where it did. */
  readonly closedUntil?: string;
}

export interface ApiSource {
  readonly version: string;
  readonly clusterName: string;
  readonly driftPolicy: DriftPolicy;
  readonly clock: Clock;
  /** `undefined`: this process does not lead. */
  readonly picture: () => Picture | undefined;
  readonly isReady: () => boolean;
  readonly leader: () => LeaderView;
  readonly throttle: () => readonly ThrottleView[];
  /** What Azure's probes have found of a rule, by its id; an Error where that is not known. Costs a call to Azure now and then. */
  readonly probeResult: (ruleId: string) => Promise<unknown>;
  readonly writes: (limit: number) => { readonly sequence: number; readonly writes: readonly NotedWrite[] };
}

const PICTURE_LASTS_MS = 1_000;
const TOLD_AFTER_MS = 250;

/** The pictures of a source, and who wants to know of changes. */
export class LiveView {
  readonly source: ApiSource;
  readonly #listeners = new Set<() => void>();
  #picture: { readonly taken: Picture | undefined; readonly atMs: number } | undefined;
  #revision = 0;
  #timer: Timer | undefined;

  constructor(source: ApiSource) {
    this.source = source;
  }

  /** Counts the changes that were told. */
  get revision(): number {
    return this.#revision;
  }

  get picture(): Picture | undefined {
    const nowMs = this.source.clock.monotonicMs();
    if (this.#picture !== undefined && nowMs - this.#picture.atMs < PICTURE_LASTS_MS) return this.#picture.taken;
    this.#picture = { taken: this.source.picture(), atMs: nowMs };
    return this.#picture.taken;
  }

  /** Something that the picture shows has changed. */
  changed(): void {
    this.#timer ??= this.source.clock.setTimer(TOLD_AFTER_MS, () => {
      this.#timer = undefined;
      this.#picture = undefined;
      this.#revision += 1;
      for (const listener of this.#listeners) listener();
    });
  }

  /** Returns what ends it. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#timer?.cancel();
    this.#listeners.clear();
  }
}
