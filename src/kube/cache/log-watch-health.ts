/**
 * Logs the connection of a reflector: that it is lost, once, and then at most once a minute for as long as it stays so;
 * and that it is back, if its loss was logged. A subscriber that threw is a bug, and always logged.
 */
import type { Clock } from "../../core/util/clock.ts";
import type { Log } from "../../core/util/log.ts";
import type { ReflectorProblem } from "./reflector.ts";
import { errorText } from "../../core/util/text.ts";

export interface WatchHealthCallbacks {
  readonly onProblem: (problem: ReflectorProblem) => void;
  readonly onRecovery: () => void;
}

const LOGGED_AGAIN_AFTER_MS = 60_000;

/** For one reflector; `what` names its objects for the operator. */
export function logWatchHealth(log: Log, clock: Pick<Clock, "monotonicMs">, what: string): WatchHealthCallbacks {
  let loggedMs: number | undefined;
  let isLoggedLost = false;
  return {
    onProblem: ({ error, retryAfterMs }) => {
      const text = errorText(error);
      if (retryAfterMs === undefined) return log.error(`a change of ${what} was not dealt with: ${text}`);
      const nowMs = clock.monotonicMs();
      if (loggedMs !== undefined && nowMs - loggedMs < LOGGED_AGAIN_AFTER_MS) return;
      loggedMs = nowMs;
      isLoggedLost = true;
      log.warn(`cannot follow ${what}: ${text}`, { retryAfterMs });
    },
    onRecovery: () => {
      if (isLoggedLost) log.info(`following ${what} again`);
      isLoggedLost = false;
    },
  };
}
