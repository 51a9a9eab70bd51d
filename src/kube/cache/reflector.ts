/**
 * Keeps a store equal to what the API server has, for ever: a list, then a watch that is resumed, replaced or begun
 * anew as `reconnect.ts` decides. One connection at a time, by construction. Subscribers can rely on this:
 *
 *   - each change comes once, in the order the server made it per object, with the object as it was before;
 *   - what vanished while no connection was open comes as deleted; what took its name is another object;
 *   - a subscriber that throws does not affect the others; the error goes to `onProblem`;
 *   - after the server went back to an older state, everything that it has is reported again, changed or not;
 *   - `synced` resolves once everything that was there at the start has been handed over.
 *
 * The projection decides what is kept of an object: fields that are not read cost memory. `managedFields` does not even
 * reach it.
 */
import { type Clock, type Random, Pacer } from "../../core/util/clock.ts";
import { CancelScope } from "../client/transport.ts";
import { Intake } from "./intake.ts";
import type { KubeReader, Query, Selection } from "../client/kube-client.ts";
import { failureOfError, KubeFailure } from "../client/kube-failure.ts";
import {
  LineCutter,
  FieldOmitter,
  endsInitialEvents,
  parseWatchEvent,
  UnreadableEvent,
  type WatchEvent,
} from "./watch-event.ts";
import { nextConnection, type Way } from "./reconnect.ts";
import { NO_STATS, type ReflectorStats } from "./reflector-stats.ts";
import { checkRevisions, isOlder, Rewound } from "./revision-check.ts";
import type { KubeObject, Resource } from "../client/resources.ts";
import { guardSilence } from "./silence-guard.ts";
import type { Indexers, ReadonlyStore, Subscriber } from "./store.ts";

export interface ReflectorOptions<T extends KubeObject> {
  readonly client: KubeReader;
  readonly resource: Resource;
  readonly selection?: Selection;
  readonly clock: Clock;
  readonly random: Random;
  /** Keeps the fields that are read later; at least name, namespace, uid and resourceVersion. */
  readonly project: (object: KubeObject) => T;
  readonly indexers?: Indexers<T>;
  /** Called with every failure, for logs; the reflector goes on by itself. */
  readonly onProblem?: (problem: ReflectorProblem) => void;
  /** Called once a connection delivers changes again, after one or more that failed. */
  readonly onRecovery?: () => void;
  /** Longest silence until the server begins to answer, and while a list arrives. */
  readonly openingMs?: number;
  /** Longest silence of a watch; bookmarks come about every 60 s. */
  readonly silenceMs?: number;
  /** How often the server is asked whether it went back to an older state. */
  readonly revisionCheckMs?: number;
}

export interface ReflectorProblem {
  readonly resource: Resource;
  readonly error: unknown;
  /** When the next connection is tried; none if no connection was lost. */
  readonly retryAfterMs?: number;
}

/** Never read here, and much of every object. */
const UNREAD = new FieldOmitter(["managedFields"]);

export class Reflector<T extends KubeObject> {
  /** Resolves once, after the first complete list. */
  readonly synced: Promise<void>;
  readonly store: ReadonlyStore<T>;
  readonly #options: ReflectorOptions<T>;
  readonly #what: string;
  readonly #intake: Intake<T>;
  readonly #pacer: Pacer;
  readonly #stats: ReflectorStats = { ...NO_STATS };
  #resolveSynced = (): void => {};
  #started = false;
  #streamingRefused = false;
  /** Resume here; known only once a list is complete. */
  #version: string | undefined;
  /** The newest version that the server is known to have reached: of changes, bookmarks and lists, also in checks. */
  #newest = "0";
  #heardMs: number | undefined;
  /** Since when the present connection delivers changes, and whether any came. */
  #liveSinceMs: number | undefined;
  #news = false;
  /** A failure of the connection was reported, and no connection has delivered changes since. */
  #isLost = false;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#what = `watch ${options.resource.plural}`;
    this.#pacer = new Pacer(options.clock);
    const onError = (error: unknown): void => {
      this.#stats.subscriberErrors += 1;
      this.#report({ error });
    };
    this.#intake = new Intake({ project: options.project, indexers: options.indexers, onError });
    this.store = this.#intake.store;
    this.synced = new Promise((resolve) => {
      this.#resolveSynced = resolve;
    });
  }

  /** What is watched, as the API names it. */
  get plural(): string {
    return this.#options.resource.plural;
  }

  /** Gets everything that is already known first, as added. */
  subscribe(subscriber: Subscriber<T>): void {
    this.#intake.subscribe(subscriber);
  }

  /** The listener is called when the server went back to an older state, before that is listed. */
  onRewind(listener: () => void): void {
    this.#intake.onRewind(listener);
  }

  stats(): Readonly<ReflectorStats> {
    const { store, unchanged } = this.#intake;
    const heardMs = this.#heardMs;
    const heardMsAgo = heardMs === undefined ? undefined : this.#options.clock.monotonicMs() - heardMs;
    return { ...this.#stats, objects: store.size, unchanged, heardMsAgo };
  }

  /** Runs until the signal is aborted and the connection is closed. Once only. Never fails. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#started) throw new Error(`${this.#what}: a reflector runs once`);
    this.#started = true;
    const { clock, random } = this.#options;
    let way: Way = "stream";
    let failures = 0;
    while (!signal.aborted) {
      if (way === "stream" && this.#streamingRefused) way = "pages";
      const failure = await this.#connect(way, signal);
      if (signal.aborted) return;
      if (this.#version !== undefined) way = "resume"; // the list is complete: that is not what ended
      const next = nextConnection({ way, failure, liveMs: this.#liveMs, news: this.#news, failures }, random);
      this.#count(failure);
      if (failure instanceof Rewound) this.#rewind();
      if (failure !== undefined) this.#report({ error: failure, retryAfterMs: next.afterMs });
      this.#streamingRefused ||= next.streamingRefused;
      ({ way, failures } = next);
      await clock.sleep(next.afterMs, signal).catch(() => {});
    }
  }

  /** One connection, from its opening to its end; returns why it ended, unless in good order. */
  async #connect(way: Way, signal: AbortSignal): Promise<KubeFailure | undefined> {
    this.#liveSinceMs = undefined;
    this.#news = false;
    try {
      if (way !== "resume") {
        this.#version = undefined;
        this.#intake.beginList();
      }
      if (way === "pages") await this.#listByPages(signal);
      await this.#watch(signal);
      return undefined;
    } catch (error) {
      return failureOfError(this.#what, error);
    }
  }

  async #listByPages(signal: AbortSignal): Promise<void> {
    const { client, resource, selection = {} } = this.#options;
    let version = "";
    for await (const page of client.listPages<KubeObject>(resource, selection, signal)) {
      this.#noteData();
      for (const object of page.items) {
        this.#intake.put(object);
        if (this.#pacer.sliceIsOver) await this.#yieldToEventLoop(signal);
      }
      version = page.resourceVersion;
    }
    this.#completeList(version);
  }

  /** Resumes; with no version to resume from, everything streams in first. */
  async #watch(signal: AbortSignal): Promise<void> {
    const { client, clock, resource, selection = {} } = this.#options;
    const { openingMs = 30_000, silenceMs = 100_000, revisionCheckMs = 30_000 } = this.#options;
    let opened = false;
    const isResumed = this.#version !== undefined && this.#liveSinceMs === undefined;
    const startMs = clock.monotonicMs();
    using scope = new CancelScope(signal);
    using _guard = guardSilence(clock, {
      heardMs: () => Math.max(startMs, this.#heardMs ?? 0),
      limitMs: () => (opened && this.#version !== undefined ? silenceMs : openingMs),
      onSilence: (limitMs) => {
        this.#stats.silences += 1;
        scope.abort(new KubeFailure("transient", `${this.#what}: silent for ${limitMs} ms`));
      },
    });
    using _checks = checkRevisions(
      { clock, everyMs: revisionCheckMs, atOnce: isResumed, check: (until) => this.#checkRevision(scope, until) },
      scope.signal,
    );
    try {
      const body = await client.watch(resource, this.#watchQuery(), selection, scope.signal);
      opened = true;
      this.#noteData();
      if (this.#version !== undefined) this.#becomeLive();
      await this.#read(body, scope.signal);
    } catch (error) {
      throw scope.signal.aborted ? scope.signal.reason : error;
    }
  }

  #watchQuery(): Query {
    const { selection = {}, random } = this.#options;
    const { labelSelector, fieldSelector } = selection;
    const start =
      this.#version === undefined
        ? { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" }
        : { resourceVersion: this.#version };
    const timeoutSeconds = Math.round(300 + 300 * random()); // spread, so that not all watches end at once
    return { labelSelector, fieldSelector, allowWatchBookmarks: "true", timeoutSeconds, ...start };
  }

  async #read(body: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
    const lines = new LineCutter();
    for await (const chunk of body) {
      this.#noteData();
      for (const line of lines.push(chunk)) {
        if (line.length === 0) continue;
        this.#take(parseWatchEvent(this.#what, UNREAD.text(line)));
        if (this.#pacer.sliceIsOver) await this.#yieldToEventLoop(signal);
      }
    }
  }

  #take({ type, object }: WatchEvent): void {
    if (type === "BOOKMARK") return this.#takeBookmark(object);
    this.#stats.events += 1;
    if (type === "DELETED") this.#intake.remove(object);
    else this.#intake.put(object);
    if (this.#version !== undefined) this.#advance(object.metadata.resourceVersion);
  }

  #takeBookmark(object: KubeObject): void {
    if (this.#version !== undefined) return this.#advance(object.metadata.resourceVersion);
    // Servers that do not know streaming lists send all objects, and then plain bookmarks.
    if (!endsInitialEvents(object)) throw new UnreadableEvent(this.#what, "a bookmark in the middle of a list");
    this.#completeList(object.metadata.resourceVersion);
  }

  #completeList(version: string): void {
    this.#refuseOlder(version, this.#newest);
    this.#intake.completeList();
    this.#version = version;
    this.#newest = version;
    this.#becomeLive();
    this.#stats.lists += 1;
    this.#resolveSynced();
  }

  #advance(version: string): void {
    if (version === this.#version) return;
    if (this.#version !== undefined) this.#refuseOlder(version, this.#version);
    this.#version = version;
    if (isOlder(this.#newest, version)) this.#newest = version;
    this.#news = true;
  }

  /**
   * Asks for the version of the present state, and ends the connection where that is older than one known before. Only
   * the first page of the list is read, and no selector is sent: either would make the server look at every object.
   */
  async #checkRevision(connection: CancelScope, signal: AbortSignal): Promise<void> {
    if (this.#version === undefined) return; // a list under way is compared when it is complete
    const { client, resource, selection = {} } = this.#options;
    const before = this.#newest; // what the watch brings while the list is answered may be newer than the list
    const first = await client.listPages(resource, { namespace: selection.namespace }, signal, 1).next();
    if (first.done === true) return;
    const { resourceVersion } = first.value;
    if (isOlder(resourceVersion, before)) connection.abort(new Rewound(this.#what, before, resourceVersion));
    else if (isOlder(this.#newest, resourceVersion)) this.#newest = resourceVersion;
  }

  #refuseOlder(version: string, than: string): void {
    if (isOlder(version, than)) throw new Rewound(this.#what, than, version);
  }

  #rewind(): void {
    this.#newest = "0";
    this.#intake.rewind();
  }

  #becomeLive(): void {
    this.#liveSinceMs = this.#options.clock.monotonicMs();
    if (!this.#isLost) return;
    this.#isLost = false;
    this.#notify(() => this.#options.onRecovery?.());
  }

  #noteData(): void {
    this.#heardMs = this.#options.clock.monotonicMs();
  }

  async #yieldToEventLoop(signal: AbortSignal): Promise<void> {
    await this.#pacer.turn();
    if (signal.aborted) throw signal.reason;
  }

  get #liveMs(): number | undefined {
    const sinceMs = this.#liveSinceMs;
    return sinceMs === undefined ? undefined : this.#options.clock.monotonicMs() - sinceMs;
  }

  #report(problem: Omit<ReflectorProblem, "resource">): void {
    this.#isLost ||= problem.retryAfterMs !== undefined;
    this.#notify(() => this.#options.onProblem?.({ resource: this.#options.resource, ...problem }));
  }

  /** A callback that throws must not end the reflector; there is no other place to report it to. */
  #notify(callback: () => void): void {
    try {
      callback();
    } catch {
      // see above
    }
  }

  #count(failure: KubeFailure | undefined): void {
    if (failure === undefined) this.#stats.cleanEnds += 1;
    else if (failure.kind === "gone") this.#stats.expired += 1;
    else this.#stats.failures += 1;
  }
}
