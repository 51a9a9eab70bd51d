/**
 * Shortens a failing history: leaves actions out, in large pieces first, as long as the same law is still broken. Bounded:
 * what it has when its tries are spent is good enough to read.
 */
import type { History } from "./history.ts";
import { runHistory, type RunOptions } from "./run-history.ts";

export interface Shrunk {
  /** Places of the actions that are left, in the whole history. */
  readonly kept: readonly number[];
  readonly tries: number;
}

const MOST_TRIES = 200;

export async function shrink(
  history: History,
  law: string,
  options: RunOptions,
  mostTries = MOST_TRIES,
): Promise<Shrunk> {
  let kept = history.actions.map((_, at) => at);
  let tries = 0;
  const stillBreaks = async (places: readonly number[]): Promise<boolean> => {
    tries += 1;
    const { violations } = await runHistory(only(history, places), options);
    return violations[0]?.law === law;
  };
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = kept.length - size; at > -size; at -= size) {
      if (tries >= mostTries) return { kept, tries };
      const shorter = kept.filter((_, index) => index < at || index >= at + size);
      if (shorter.length < kept.length && (await stillBreaks(shorter))) kept = shorter;
    }
  }
  return { kept, tries };
}

/** The history with only these of its actions. */
export function only(history: History, places: readonly number[]): History {
  const chosen = new Set(places);
  return { ...history, actions: history.actions.filter((_, at) => chosen.has(at)) };
}
