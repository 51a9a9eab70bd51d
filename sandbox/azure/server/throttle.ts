/**
 * ARM's throttling: token buckets per principal, a larger one per subscription, and the network provider's five-minute
 * windows per region. When disabled it refuses nothing, and the rate headers are those of an idle subscription.
 *
 *   bucket                  | reads          | writes         | deletes
 *   ------------------------|----------------|----------------|---------------
 *   principal               | 250, 25/s      | 200, 10/s      | 200, 10/s
 *   subscription ("global") | 15 times that, across principals
 *   network, per 5 minutes  | 10 000         | 1 000 together
 */

export type Kind = "reads" | "writes" | "deletes";

interface Bucket {
  readonly size: number;
  readonly perSecond: number;
}

const PRINCIPAL_BUCKETS: Readonly<Record<Kind, Bucket>> = {
  reads: { size: 250, perSecond: 25 },
  writes: { size: 200, perSecond: 10 },
  deletes: { size: 200, perSecond: 10 },
};
const GLOBAL_TIMES = 15;
const NETWORK_WINDOW_MS = 300_000;
const NETWORK_WINDOW = { reads: 10_000, changes: 1_000 };

export interface ThrottleRequest {
  readonly principal: string;
  readonly subscription: string;
  readonly kind: Kind;
  /** Region of a network resource; `undefined` for other providers. */
  readonly networkRegion: string | undefined;
}

interface ThrottleDecision {
  /** Set when refused. */
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Throttle {
  enabled: boolean;
  check(request: ThrottleRequest): ThrottleDecision;
}

export function kindOfMethod(method: string): Kind {
  if (method === "DELETE") return "deletes";
  return method === "GET" || method === "HEAD" ? "reads" : "writes";
}

interface Meter {
  tokens: number;
  filledAtMs: number;
  blockedUntilMs: number;
}

interface Window {
  startedAtMs: number;
  used: number;
}

export function createThrottle(nowMs: () => number, enabled: boolean): Throttle {
  const meters = new Map<string, Meter>();
  const windows = new Map<string, Window>();

  /** Takes a token; returns the remaining ones, or how long to wait. */
  function take(name: string, bucket: Bucket): { left: number; waitSeconds: number | undefined } {
    const now = nowMs();
    const meter = meters.get(name) ?? { tokens: bucket.size, filledAtMs: now, blockedUntilMs: 0 };
    meters.set(name, meter);
    const grown = ((now - meter.filledAtMs) / 1000) * bucket.perSecond;
    meter.tokens = Math.min(bucket.size, meter.tokens + grown);
    meter.filledAtMs = now;
    // A request before the wait is over is refused and restarts the wait.
    if (meter.tokens < 1 || now < meter.blockedUntilMs) {
      const waitSeconds = Math.max(1, Math.ceil((1 - meter.tokens) / bucket.perSecond));
      meter.blockedUntilMs = now + waitSeconds * 1000;
      return { left: 0, waitSeconds };
    }
    meter.tokens -= 1;
    return { left: Math.floor(meter.tokens), waitSeconds: undefined };
  }

  function takeFromWindow(name: string, size: number): number | undefined {
    const now = nowMs();
    let window = windows.get(name);
    if (window === undefined || now >= window.startedAtMs + NETWORK_WINDOW_MS) {
      window = { startedAtMs: now, used: 0 };
      windows.set(name, window);
    }
    if (window.used >= size) return Math.max(1, Math.ceil((window.startedAtMs + NETWORK_WINDOW_MS - now) / 1000));
    window.used += 1;
    return undefined;
  }

  return {
    enabled,
    check(request) {
      const bucket = PRINCIPAL_BUCKETS[request.kind];
      if (!this.enabled)
        return {
          retryAfterSeconds: undefined,
          headers: rateHeaders(request.kind, bucket.size - 1, bucket.size * GLOBAL_TIMES - 1),
        };
      const own = take(`${request.subscription}/${request.principal}/${request.kind}`, bucket);
      const all = take(`${request.subscription}/*/${request.kind}`, {
        size: bucket.size * GLOBAL_TIMES,
        perSecond: bucket.perSecond * GLOBAL_TIMES,
      });
      const changes = request.kind === "reads" ? "reads" : "changes";
      const networkWait =
        request.networkRegion === undefined || own.waitSeconds !== undefined || all.waitSeconds !== undefined
          ? undefined
          : takeFromWindow(`${request.subscription}/${request.networkRegion}/${changes}`, NETWORK_WINDOW[changes]);
      const waits = [own.waitSeconds, all.waitSeconds, networkWait].filter((wait) => wait !== undefined);
      return {
        retryAfterSeconds: waits.length === 0 ? undefined : Math.max(...waits),
        headers: rateHeaders(request.kind, own.left, all.left),
      };
    },
  };
}

function rateHeaders(kind: Kind, own: number, all: number): Record<string, string> {
  return {
    [`x-ms-ratelimit-remaining-subscription-${kind}`]: String(own),
    [`x-ms-ratelimit-remaining-subscription-global-${kind}`]: String(all),
  };
}
