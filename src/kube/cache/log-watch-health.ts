/**
 * What a reflector says of its connection: that it is lost, once, and then at most once a minute for as long as it stays
 * so; and that it is back, if it was said to be lost. A subscriber that threw is a bug, and always told.
 */
import type { Clock } from "../../core/util/clock.ts";
import type { Log } from "../../core/util/log.ts";
import type { ReflectorProblem } from "./reflector.ts";
import { errorText } from "../../core/util/text.ts";

export interface FollowingVoice {
  readonly onProblem: (problem: ReflectorProblem) => void;
  readonly onRecovery: () => void;
}

const SAID_AGAIN_AFTER_MS = 60_000;

/** For one reflector; `what` is what it follows, in an operator's words. */
export function logWatchHealth(log: Log, clock: Pick<Clock, "monotonicMs">, what: string): FollowingVoice {
  let saidMs: number | undefined;
  let isSaidLost = false;
  return {
    onProblem: ({ error, retryAfterMs }) => {
      const text = errorText(error);
      if (retryAfterMs === undefined) return log.error(`a change of ${what} was not dealt with: ${text}`);
      const nowMs = clock.monotonicMs();
      if (saidMs !== undefined && nowMs - saidMs < SAID_AGAIN_AFTER_MS) return;
      saidMs = nowMs;
      isSaidLost = true;
      log.warn(`cannot follow ${what}: ${text}`, { retryAfterMs });
    },
    onRecovery: () => {
      if (isSaidLost) log.info(`following ${what} again`);
      isSaidLost = false;
    },
  };
}
