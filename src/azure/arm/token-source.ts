/**
 * One token for many callers: fetched once, refreshed by one request before it runs out while the old one is still
 * served, forgotten when Azure refuses it.
 */
import type { Clock } from "../../core/util/clock.ts";

export interface Issued {
  readonly token: string;
  /** Milliseconds since 1970, as all times of tokens. */
  readonly expiresAtMs: number;
  /** When the issuer would like to be asked again, where it says. */
  readonly refreshAfterMs: number | undefined;
}

export type TokenIssuer = (signal?: AbortSignal) => Promise<Issued>;

export interface TokenSource {
  /** A token that is good for some minutes. Rejects as the issuer does. */
  token(): Promise<string>;
  /** Azure refused this token: the next caller gets another one. */
  refused(token: string): void;
}

/** Refreshed this long before it runs out: just after the identity library stops repeating the one it has. */
const EARLY_MS = 290_000;
/** A token with less time left than this is not served. */
const LEAST_LEFT_MS = 60_000;
/** After a refresh in the background failed. */
const RETRY_AFTER_MS = 30_000;

export class CachedTokens implements TokenSource {
  readonly #issue: TokenIssuer;
  readonly #clock: Clock;
  #current: Issued | undefined;
  #refresh: Promise<Issued> | undefined;
  /** On the monotonic clock: the wall clock may be set back meanwhile. */
  #notBeforeMs = 0;

  constructor(issue: TokenIssuer, clock: Clock) {
    this.#issue = issue;
    this.#clock = clock;
  }

  async token(): Promise<string> {
    const nowMs = this.#clock.nowMs();
    const current = this.#current;
    if (current === undefined || current.expiresAtMs - nowMs < LEAST_LEFT_MS) return (await this.#refreshed()).token;
    const dueMs = Math.min(current.refreshAfterMs ?? Number.POSITIVE_INFINITY, current.expiresAtMs - EARLY_MS);
    if (nowMs >= dueMs && this.#clock.monotonicMs() >= this.#notBeforeMs) {
      this.#refreshed().catch(() => {
        this.#notBeforeMs = this.#clock.monotonicMs() + RETRY_AFTER_MS;
      });
    }
    return current.token;
  }

  refused(token: string): void {
    if (this.#current?.token === token) this.#current = undefined;
  }

  #refreshed(): Promise<Issued> {
    this.#refresh ??= this.#issue()
      .then((issued) => (this.#current = issued))
      .finally(() => {
        this.#refresh = undefined;
      });
    return this.#refresh;
  }
}
