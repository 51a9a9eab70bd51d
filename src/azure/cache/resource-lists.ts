/**
 * What was last seen of all resources of one ARM type: a cache per list, or per resource where the table of resource
 * kinds says that they are read one by one. Decides how they are read and what of a writer's news is kept.
 */
import { armTypeOf, listedType } from "../../core/resources/kinds.ts";
import { unlessAborted } from "../../core/util/clock.ts";
import type { ArmClient } from "../arm/arm-client.ts";
import { assertResourceShape } from "../arm/resource-shape.ts";
import type { ArmBody } from "../group-commit/commit-types.ts";
import { ResourceListCache } from "./resource-list-cache.ts";

export interface Named extends ArmBody {
  readonly id: string;
}

/** `known`: what was last read will do, however long ago, for callers that must not wait; a writer learns if it is outdated. */
export type Age = "fresh" | "known";

export const READ = { priority: "create" } as const;

export class ResourceLists<Body extends Named> {
  readonly #client: ArmClient;
  readonly #isBody: (body: unknown) => body is Body;
  /** By the path of the list, or by the id of what is read by itself; in lower case. */
  readonly #caches = new Map<string, ResourceListCache<Body>>();

  /** `isBody`: is what a writer has seen of this type? Not needed for what is only read. */
  constructor(client: ArmClient, isBody: (body: unknown) => body is Body = (_body): _body is Body => false) {
    this.#client = client;
    this.#isBody = isBody;
  }

  /** `path`: of the list, or the id of what is read by itself, which then is the only one. */
  list(path: string, signal: AbortSignal | undefined, age: Age = "fresh"): Promise<readonly Body[]> {
    const cache = this.#cacheAt(path);
    return unlessAborted(() => (age === "known" ? cache.known() : cache.read()), signal);
  }

  /** `null`: it isn't there; `undefined`: it was not read, or what was seen holds no more. */
  lastSeen(id: string): Body | null | undefined {
    return this.#caches.get(pathOf(id).toLowerCase())?.lastSeen(id);
  }

  wasThere(id: string): boolean {
    return this.#caches.get(pathOf(id).toLowerCase())?.wasThere(id) ?? false;
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
    const cache = this.#caches.get(key) ?? new ResourceListCache<Body>(() => this.#load(path));
    this.#caches.set(key, cache);
    return cache;
  }

  async #load(path: string): Promise<readonly Body[]> {
    if (armTypeOf(path)?.read === "single") {
      const found = await this.#client.find<Body>(path, READ);
      return found === null ? [] : [assertResourceShape(found, `reading ${path}`)];
    }
    const query = listedType(path)?.listQuery;
    const found = await this.#client.list<Body>(query === undefined ? path : `${path}?${query}`, READ);
    return found.map((body) => assertResourceShape(body, `listing ${path}`));
  }
}

/** Of the list that a resource is in, or of itself where it is read by itself. */
function pathOf(id: string): string {
  return armTypeOf(id)?.read === "single" ? id : id.slice(0, id.lastIndexOf("/"));
}
