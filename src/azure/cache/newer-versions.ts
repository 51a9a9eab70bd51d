/**
 * Tells answers of Azure that are older than what a writer has seen since: a read may lag behind a write for some seconds.
 * An older version is known by its ETag; that a resource was not there yet, by the time of its last write.
 */
import { READS_LAG_MS } from "../../core/freshness.ts";
import type { Clock } from "../../core/util/clock.ts";

/** More than a read lags behind. */
const MOST_REPLACED = 8;

interface Versions {
  /** ETags of versions that others have taken the place of, newest last. */
  readonly replaced: readonly string[];
  /** When it was last seen there; `undefined`: a writer has seen that it was not. */
  readonly thereMs: number | undefined;
}

export class NewerVersions {
  readonly #clock: Pick<Clock, "monotonicMs">;
  /** By id in lower case. */
  readonly #versions = new Map<string, Versions>();

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
  }

  /** A writer has seen a version, or with `null` that it is not there; `before` is the ETag that was known. */
  seen(key: string, before: string | undefined, now: { readonly etag?: string } | null): void {
    const replaced = this.#versions.get(key)?.replaced ?? [];
    const isNew = before !== undefined && before !== now?.etag;
    this.#versions.set(key, {
      replaced: isNew ? [...replaced, before].slice(-MOST_REPLACED) : replaced,
      thereMs: now === null ? undefined : this.#clock.monotonicMs(),
    });
  }

  /** Has a later version taken its place? */
  isReplaced(key: string, etag: string | undefined): boolean {
    return etag !== undefined && (this.#versions.get(key)?.replaced.includes(etag) ?? false);
  }

  /** May a list still be without it, because it was written a moment ago? */
  mayBeMissing(key: string): boolean {
    const thereMs = this.#versions.get(key)?.thereMs;
    return thereMs !== undefined && this.#clock.monotonicMs() - thereMs < READS_LAG_MS;
  }

  forget(key: string): void {
    this.#versions.delete(key);
  }
}
