/**
 * After a connection of the reflector ended: how to go on, and when. Pure.
 *
 *   it ended                             | go on by                       | when
 *   -------------------------------------|--------------------------------|--------------------------------------
 *   cleanly, after a healthy life        | resuming                       | at once
 *   cleanly, at once, with nothing new   | resuming                       | backoff: or we would hammer the server
 *   version too old (410, in both forms) | listing anew                   | at once, then backoff
 *   unreadable                           | listing anew                   | backoff
 *   streaming list refused               | listing by pages, ever after   | at once
 *   a list broke off                     | listing the other way          | backoff
 *   any other failure                    | what it was doing              | backoff, not before Retry-After
 *
 * It goes on for ever; the backoff is capped and starts afresh after a healthy life.
 */
import type { Random } from "../core/clock.ts";
import { backoffMs, type Backoff } from "./backoff.ts";
import type { KubeFailure } from "./kube-failure.ts";
import { UnreadableEvent } from "./watch-event.ts";

export type Way = "resume" | "stream" | "pages";

export interface Ending {
  /** What the connection was doing when it ended: `resume` once it has everything. */
  readonly way: Way;
  /** None: the server ended it in good order. */
  readonly failure?: KubeFailure | undefined;
  /** It brought news, or lived long enough to be worth repeating at once. */
  readonly healthy: boolean;
  /** Failures in a row before this one. */
  readonly failures: number;
}

export interface Continuation {
  readonly way: Way;
  readonly afterMs: number;
  readonly failures: number;
  /** The server has no streaming lists: never ask again. */
  readonly streamingRefused: boolean;
}

export const RECONNECT_BACKOFF: Backoff = { firstMs: 200, capMs: 30_000 };
/** A longer wish would leave us blind for too long. */
const LONGEST_RETRY_AFTER_MS = 60_000;
const OTHER_LIST = { stream: "pages", pages: "stream" } as const;

export function nextConnection(ending: Ending, random: Random): Continuation {
  const { failure, healthy, way } = ending;
  const failures = healthy ? 0 : ending.failures;
  const backoff = (): number => backoffMs(RECONNECT_BACKOFF, failures, random);
  const go = (next: Way, afterMs: number): Continuation => ({
    way: next,
    afterMs,
    failures: failures + 1,
    streamingRefused: false,
  });

  if (failure === undefined) {
    if (way === "stream") return go("pages", backoff());
    return healthy ? { ...go(way, 0), failures: 0 } : go(way, backoff());
  }
  if (failure.kind === "gone") return go("stream", failures === 0 ? 0 : backoff());
  if (failure instanceof UnreadableEvent) return go(way === "stream" ? "pages" : "stream", backoff());
  if (way === "stream" && (failure.kind === "invalid" || failure.kind === "unsupported")) {
    return { ...go("pages", 0), streamingRefused: true };
  }
  const wishMs = Math.min(failure.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS) * (1 + random() / 10);
  const brokeOff = failure.kind === "transient" && way !== "resume";
  return go(brokeOff ? OTHER_LIST[way] : way, Math.max(backoff(), wishMs));
}
