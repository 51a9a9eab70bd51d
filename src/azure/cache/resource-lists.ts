/**
 * What was last seen of all resources of one ARM type: a cache per list, or per resource where the table of resource
 * kinds says that they are read one by one. Decides how they are read and what of a writer's news is kept.
 */
import { knownType } from "../../core/resources/kinds.ts";
import { READS_LAG_MS } from "../../core/freshness.ts";
import { type Clock, unlessAborted } from "../../core/util/clock.ts";
import { assertResourceShape, type ArmClient } from "../arm/arm-client.ts";
import type { ArmBody } from "../group-commit/commit-types.ts";
import { NewerVersions } from "./newer-versions.ts";
import { isDeepStrictEqual } from "node:util";

export interface Named extends ArmBody {
  readonly id: string;
}

/** `known`: what was last read will do, however long ago, for callers that must not wait; a writer learns if it is outdated. */
export type Age = "fresh" | "known";

export const READ = { priority: "create" } as const;

/** The calls that are made here. */
export type ArmReader = Pick<ArmClient, "get" | "find" | "list">;

export class ResourceLists<Body extends Named> {
  readonly #client: ArmReader;
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #isBody: (body: unknown) => body is Body;
  /** By the path of the list, or by the id of what is read by itself; in lower case. */
  readonly #caches = new Map<string, ResourceListCache<Body>>();

  /** `isBody`: is what a writer has seen of this type? Not needed for what is only read. */
  constructor(
    client: ArmReader,
    clock: Pick<Clock, "monotonicMs">,
    isBody: (body: unknown) => body is Body = (_body): _body is Body => false,
  ) {
    this.#client = client;
    this.#clock = clock;
    this.#isBody = isBody;
  }

  /** `path`: of the list, or the id of what is read by itself, which then is the only one. */
  list(path: string, signal: AbortSignal | undefined, age: Age = "fresh"): Promise<readonly Body[]> {
    const cache = this.#cacheAt(path);
    return unlessAborted(() => (age === "known" ? cache.known() : cache.read()), signal);
  }

  /** All that was last seen, of every list that was ever read; calls nothing. */
  get shown(): readonly Body[] {
    return [...this.#caches.values()].flatMap((cache) => cache.shown);
  }

  /** `null`: it isn't there; `undefined`: it was not read, or what was seen holds no more. */
  lastSeen(id: string): Body | null | undefined {
    return this.#caches.get(pathOf(id).toLowerCase())?.lastSeen(id);
  }

  wasThere(id: string): boolean {
    return this.#caches.get(pathOf(id).toLowerCase())?.wasThere(id) ?? false;
  }

  isJustWritten(id: string): boolean {
    return this.#caches.get(pathOf(id).toLowerCase())?.isJustWritten(id) ?? false;
  }

  /** A body that is not of this type is no news: what was last seen holds no more. */
  seen(id: string, body: ArmBody | null | undefined): void {
    this.#cacheAt(pathOf(id)).seen(id, body === null || this.#isBody(body) ? body : undefined);
  }

  /** What has changed in a known way is shown as changed, but must be read before it is written. */
  changeAll(change: (body: Body) => Body): void {
    for (const cache of this.#caches.values()) cache.changeAll(change);
  }

  /** The next reader of each list reads from Azure. */
  expire(): void {
    for (const cache of this.#caches.values()) cache.expire();
  }

  #cacheAt(path: string): ResourceListCache<Body> {
    const key = path.toLowerCase();
    const cache = this.#caches.get(key) ?? new ResourceListCache<Body>(() => this.#load(path), this.#clock);
    this.#caches.set(key, cache);
    return cache;
  }

  async #load(path: string): Promise<readonly Body[]> {
    if (knownType(path)?.read === "single") {
      const found = await this.#client.find<Body>(path, READ);
      return found === null ? [] : [assertResourceShape(found, `reading ${path}`)];
    }
    const query = knownType(`${path}/any`)?.listQuery;
    const found = await this.#client.list<Body>(query === undefined ? path : `${path}?${query}`, READ);
    return found.map((body) => assertResourceShape(body, `listing ${path}`));
  }
}

/** Of the list that a resource is in, or of itself where it is read by itself. */
function pathOf(id: string): string {
  return knownType(id)?.read === "single" ? id : id.slice(0, id.lastIndexOf("/"));
}

interface Entry<Body> {
  /** `null`: it isn't there. */
  readonly body: Body | null;
  /** When it was learned, counted in things learned. */
  readonly at: number;
}

interface Loaded<Body> {
  /** When it was asked for, counted in things learned. */
  readonly at: number;
  /** All that was there, without a gap. */
  readonly shown: readonly Body[];
}

/**
 * What was last seen of one list of resources. Readers share one request and its result; writers' results are put in
 * as they come and win over a list that was asked for before, and over one that lags behind them. A failed read throws to every reader that waits, and the next
 * reader asks again: nothing is ever shown as empty because it could not be read.
 */
class ResourceListCache<Body extends { readonly id: string; readonly etag?: string }> {
  readonly #load: () => Promise<readonly Body[]>;
  /** By id in lower case. */
  readonly #entries = new Map<string, Entry<Body>>();
  /** Changed in a way that we know of, to something that we have not read: shown, but no base for a write. */
  readonly #outdated = new Set<string>();
  #values: readonly Body[] | undefined;
  #learned = 0;
  /** A read that began before this does not count. */
  #freshSince = 1;
  #loadedAt = 0;
  #loading: Promise<Loaded<Body>> | undefined;
  /** What was there and isn't shown, since we don't know what became of it. */
  readonly #gaps = new Set<string>();
  readonly #newer: NewerVersions;
  readonly #clock: Pick<Clock, "monotonicMs">;
  /** From then on a list that lagged behind is no excuse any more: the next reader reads from Azure. */
  #laggedUntilMs = Number.POSITIVE_INFINITY;

  constructor(load: () => Promise<readonly Body[]>, clock: Pick<Clock, "monotonicMs">) {
    this.#load = load;
    this.#clock = clock;
    this.#newer = new NewerVersions(clock);
  }

  /**
   * The same array as long as nothing has changed. Where it expires again and again while it is read, a list that was asked
   * for after the caller came is enough: other clients' failures must not keep the caller waiting for ever.
   */
  async read(): Promise<readonly Body[]> {
    if (this.#clock.monotonicMs() >= this.#laggedUntilMs) {
      this.#laggedUntilMs = Number.POSITIVE_INFINITY;
      this.expire();
    }
    const cameAt = this.#freshSince;
    for (let loads = 0; this.#loadedAt < this.#freshSince; loads++) {
      const { at, shown } = await this.#loadOnce();
      if (loads > 0 && at >= cameAt) return shown;
    }
    return this.#shown();
  }

  /** As last read, however long ago that was; reads only where nothing was read before, or where a gap is known. */
  async known(): Promise<readonly Body[]> {
    return this.#loadedAt > 0 && this.#gaps.size === 0 ? this.#shown() : this.read();
  }

  get shown(): readonly Body[] {
    return this.#shown();
  }

  /** `null`: it isn't there; `undefined`: it was not read, or what was seen holds no more. */
  lastSeen(id: string): Body | null | undefined {
    const key = id.toLowerCase();
    if (this.#outdated.has(key)) return undefined;
    const entry = this.#entries.get(key);
    if (entry !== undefined) return entry.body;
    return this.#loadedAt >= this.#freshSince ? null : undefined;
  }

  /** It was there when it was last seen, whatever has changed in it since. */
  wasThere(id: string): boolean {
    const key = id.toLowerCase();
    return this.#gaps.has(key) || Boolean(this.#entries.get(key)?.body);
  }

  /** It was written so recently that a read may still be without it. */
  isJustWritten(id: string): boolean {
    return this.wasThere(id) && this.#newer.mayBeMissing(id.toLowerCase());
  }

  /** `undefined`: what was seen holds no more; readers look again. */
  seen(id: string, body: Body | null | undefined): void {
    const key = id.toLowerCase();
    const known = this.#entries.get(key);
    if (known !== undefined && this.#newer.isReplaced(key, body?.etag)) return; // a writer's read may lag behind, too
    if (body === undefined) {
      if (this.#entries.delete(key)) this.#gaps.add(key);
      this.#values = undefined;
      this.expire();
    } else {
      this.#newer.seen(key, known?.body?.etag, body);
      this.#put(key, this.#unchanged(key, body) ?? body, ++this.#learned);
      this.#gaps.delete(key);
    }
    this.#outdated.delete(key);
  }

  /** What has changed in a known way is shown as changed, but must be read before it is written. */
  changeAll(change: (body: Body) => Body): void {
    for (const [key, { body }] of this.#entries) {
      const changed = body === null ? null : change(body);
      if (changed === body) continue;
      this.#put(key, changed, ++this.#learned);
      this.#outdated.add(key);
    }
  }

  /** The next reader reads from Azure. */
  expire(): void {
    this.#freshSince = ++this.#learned;
  }

  /** One at a time: a read that began before the last expiry is let run out, and another one follows. */
  #loadOnce(): Promise<Loaded<Body>> {
    const at = ++this.#learned;
    this.#loading ??= this.#load()
      .then((listed) => {
        this.#take(listed, at);
        return { at, shown: this.#shown() };
      })
      .finally(() => {
        this.#loading = undefined;
      });
    return this.#loading;
  }

  #take(listed: readonly Body[], at: number): void {
    const found = new Map(listed.map((body) => [body.id.toLowerCase(), body]));
    for (const [key, entry] of this.#entries) {
      if (entry.at > at || found.has(key)) continue;
      if (entry.body !== null && this.#newer.mayBeMissing(key)) {
        this.#lagged();
        this.#outdated.add(key);
        continue;
      }
      this.#entries.delete(key);
      this.#newer.forget(key);
      this.#values = undefined;
    }
    for (const [key, body] of found) {
      const known = this.#entries.get(key);
      if (known !== undefined && known.at > at) continue;
      if (known !== undefined && this.#newer.isReplaced(key, body.etag)) {
        this.#lagged();
        continue;
      }
      this.#put(key, this.#unchanged(key, body) ?? body, at);
      this.#outdated.delete(key);
    }
    this.#loadedAt = at;
    if (at >= this.#freshSince) this.#gaps.clear();
  }

  /** What the list shows of others may be old as well. */
  #lagged(): void {
    this.#laggedUntilMs = this.#clock.monotonicMs() + READS_LAG_MS;
  }

  #shown(): readonly Body[] {
    return (this.#values ??= [...this.#entries.values()].flatMap(({ body }) => (body === null ? [] : [body])));
  }

  #put(key: string, body: Body | null, at: number): void {
    const known = this.#entries.get(key);
    if (known === undefined || known.body !== body) this.#values = undefined;
    this.#entries.set(key, { body, at });
  }

  /**
   * The very object that we have, where it is the same: what others derived from it need not be derived again. The ETag
   * alone does not say so: a body that was garbled on its way once would be believed until the next write.
   */
  #unchanged(key: string, body: Body | null): Body | undefined {
    const known = this.#entries.get(key)?.body;
    if (!known || body?.etag === undefined || this.#outdated.has(key)) return undefined;
    return known.etag === body.etag && isDeepStrictEqual(known, body) ? known : undefined;
  }
}
