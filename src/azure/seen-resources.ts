/**
 * All resources of one kind in one place of Azure, as last seen: listed once however many ask, kept right by what
 * writers see, listed anew when it has expired. A list that cannot be read fails its readers; it is never shown empty.
 *
 * The array is the same object until something changes, so that decisions can memoise what they derive from it.
 */

interface Identified {
  readonly id: string;
}

export class SeenResources<Body extends Identified> {
  readonly #list: (signal: AbortSignal | undefined) => Promise<readonly Body[]>;
  #bodies: Map<string, Body> | undefined;
  #values: readonly Body[] | undefined;
  #reading: Promise<void> | undefined;
  #isFresh = false;
  /** What writers told, in order: a list that was asked for before is older than that. */
  readonly #told = new Map<string, { readonly at: number; readonly body: Body | null }>();
  #tellings = 0;

  constructor(list: (signal: AbortSignal | undefined) => Promise<readonly Body[]>) {
    this.#list = list;
  }

  async values(signal?: AbortSignal): Promise<readonly Body[]> {
    if (!this.#isFresh || this.#bodies === undefined) {
      this.#reading ??= this.#read(signal).finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    this.#values ??= [...(this.#bodies?.values() ?? [])];
    return this.#values;
  }

  /** `undefined`: nobody has looked; `null`: looked, and it isn't there. */
  get(id: string): Body | null | undefined {
    const key = id.toLowerCase();
    if (this.#bodies !== undefined) return this.#bodies.get(key) ?? null;
    return this.#told.get(key)?.body;
  }

  /** What a writer read or wrote; `null` where it isn't there any more. */
  tell(id: string, body: Body | null): void {
    const key = id.toLowerCase();
    this.#told.set(key, { at: ++this.#tellings, body });
    if (this.#bodies === undefined || this.#bodies.get(key) === (body ?? undefined)) return;
    if (body !== null) this.#bodies.set(key, body);
    else this.#bodies.delete(key);
    this.#values = undefined;
  }

  /** The next reader lists anew. */
  expire(): void {
    this.#isFresh = false;
  }

  async #read(signal: AbortSignal | undefined): Promise<void> {
    const asked = this.#tellings;
    this.#isFresh = true; // unless it expires meanwhile
    try {
      const listed = new Map((await this.#list(signal)).map((body) => [body.id.toLowerCase(), body]));
      for (const [key, { at, body }] of this.#told) {
        if (at <= asked) this.#told.delete(key);
        else if (body === null) listed.delete(key);
        else listed.set(key, body);
      }
      this.#bodies = listed;
      this.#values = undefined;
    } catch (error) {
      this.#isFresh = false;
      throw error;
    }
  }
}
