/**
 * What was last seen of one list of resources. Readers share one request and its result; writers' results are put in
 * as they come and win over a list that was asked for before. A failed read throws to every reader that waits, and the next
 * reader asks again: nothing is ever shown as empty because it could not be read.
 */
import { isDeepStrictEqual } from "node:util";

interface Entry<Body> {
  /** `null`: it isn't there. */
  readonly body: Body | null;
  /** When it was learned, counted in things learned. */
  readonly at: number;
}

export class ResourceListCache<Body extends { readonly id: string; readonly etag?: string }> {
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
  #loading: Promise<void> | undefined;
  /** What was there and isn't shown, since we don't know what became of it. */
  readonly #gaps = new Set<string>();

  constructor(load: () => Promise<readonly Body[]>) {
    this.#load = load;
  }

  /** The same array as long as nothing has changed. */
  async read(): Promise<readonly Body[]> {
    while (this.#loadedAt < this.#freshSince) await this.#loadOnce();
    return this.#shown();
  }

  /** As last read, however long ago that was; reads only where nothing was read before, or where a gap is known. */
  async known(): Promise<readonly Body[]> {
    return this.#loadedAt > 0 && this.#gaps.size === 0 ? this.#shown() : this.read();
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

  /** `undefined`: what was seen holds no more; readers look again. */
  seen(id: string, body: Body | null | undefined): void {
    const key = id.toLowerCase();
    if (body === undefined) {
      if (this.#entries.delete(key)) this.#gaps.add(key);
      this.#values = undefined;
      this.expire();
    } else {
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
  #loadOnce(): Promise<void> {
    const at = ++this.#learned;
    this.#loading ??= this.#load()
      .then((listed) => this.#take(listed, at))
      .finally(() => {
        this.#loading = undefined;
      });
    return this.#loading;
  }

  #take(listed: readonly Body[], at: number): void {
    const found = new Map(listed.map((body) => [body.id.toLowerCase(), body]));
    for (const [key, entry] of this.#entries) {
      if (entry.at > at || found.has(key)) continue;
      this.#entries.delete(key);
      this.#values = undefined;
    }
    for (const [key, body] of found) {
      if ((this.#entries.get(key)?.at ?? 0) > at) continue;
      this.#put(key, this.#unchanged(key, body) ?? body, at);
      this.#outdated.delete(key);
    }
    this.#loadedAt = at;
    if (at >= this.#freshSince) this.#gaps.clear();
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
