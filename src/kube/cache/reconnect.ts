/**
 * After a connection of the reflector ended: how to go on, and when. Pure.
 *
 *   it ended                             | go on by                       | when
 *   -------------------------------------|--------------------------------|--------------------------------------
 *   cleanly, after a while               | resuming                       | at once
 *   cleanly, at once                     | resuming                       | backoff: or it would hammer the server
 *   version too old (410, in both forms) | listing anew                   | at once, then backoff
 *   the server went back (restored)      | listing anew                   | at once: checks are rare
 *   unreadable                           | listing anew                   | backoff
 *   streaming list refused               | listing by pages, ever after   | at once
 *   a list broke off                     | listing the other way          | backoff
 *   any other failure                    | what it was doing              | backoff, not before Retry-After
 *
 * It goes on for ever. The backoff is capped, and starts afresh after a connection that was steady or brought news;
 * lists are dear, so for them only steadiness counts.
 */
import type { Random } from "../../core/util/clock.ts";
import type { Backoff } from "../../core/retry.ts";
import { backoffMs } from "../client/backoff.ts";
import type { KubeFailure } from "../client/kube-failure.ts";
import { Rewound } from "./revision-check.ts";
import { UnreadableEvent } from "./watch-event.ts";

export type Way = "resume" | "stream" | "pages";

export interface Ending {
  /** What the connection was doing when it ended: `resume` once it has everything. */
  readonly way: Way;
  /** None: the server ended it in good order. */
  readonly failure?: KubeFailure | undefined;
  /** How long it delivered changes, once it had everything; none if it never had. */
  readonly liveMs?: number | undefined;
  /** Whether any change came. */
  readonly news: boolean;
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

const BACKOFF: Backoff = { firstMs: 200, capMs: 30_000 };
const STEADY_MS = 10_000;
const BRIEF_MS = 1_000;
/** A longer Retry-After is cut: the cache would be out of date for too long. */
const LONGEST_RETRY_AFTER_MS = 60_000;
const OTHER_LIST = { stream: "pages", pages: "stream" } as const;

export function nextConnection(ending: Ending, random: Random): Continuation {
  const { failure, way, news, liveMs = 0 } = ending;
  const steady = liveMs >= STEADY_MS;
  const failures = steady || (news && failure?.kind !== "gone") ? 0 : ending.failures;
  const backoff = (): number => backoffMs(BACKOFF, failures, random);
  const go = (next: Way, afterMs: number): Continuation => ({
    way: next,
    afterMs,
    failures: failures + 1,
    streamingRefused: false,
  });

  if (failure === undefined) {
    if (way === "stream") return go("pages", backoff());
    return liveMs >= BRIEF_MS ? { ...go(way, 0), failures: 0 } : go(way, backoff());
  }
  if (failure instanceof Rewound) return go("stream", 0);
  if (failure.kind === "gone") return go("stream", failures === 0 ? 0 : backoff());
  if (failure instanceof UnreadableEvent) return go(way === "stream" ? "pages" : "stream", backoff());
  if (way === "stream" && (failure.kind === "invalid" || failure.kind === "unsupported")) {
    return { ...go("pages", 0), streamingRefused: true };
  }
  const askedMs = Math.min(failure.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS) * (1 + random() / 10);
  const brokeOff = failure.kind === "transient" && way !== "resume";
  return go(brokeOff ? OTHER_LIST[way] : way, Math.max(backoff(), askedMs));
}
