/**
 * The Service as our own last patch left it, for as long as the cache has not seen that patch: deciding on the older
 * one would write the same again. Only an aid: whoever forgets it loses nothing but that economy.
 */
import { keyOf } from "../../kube/client/resources.ts";
import { isNewer } from "../newer.ts";
import type { CachedService } from "../projections.ts";

export class ServiceMemory {
  readonly #written = new Map<string, CachedService>();

  wrote(service: CachedService): void {
    this.#written.set(keyOf(service), service);
  }

  forget(key: string): void {
    this.#written.delete(key);
  }

  /** The newer of what the cache has and what we wrote. */
  newest(cached: CachedService): CachedService {
    const key = keyOf(cached);
    const written = this.#written.get(key);
    if (written === undefined) return cached;
    if (written.metadata.uid === cached.metadata.uid && isNewer(written, cached)) return written;
    this.#written.delete(key);
    return cached;
  }
}
