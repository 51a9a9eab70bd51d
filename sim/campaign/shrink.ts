/**
 * Shrinks a failing history: leaves out actions, first in large chunks, then one by one, as long as the same law is
 * broken. The number of tries is bounded; the result need not be minimal.
 */
import type { History } from "./history.ts";
import { runHistory, type RunOptions } from "./run-history.ts";

export interface Shrunk {
  /** Indexes, in the whole history, of the actions that are left. */
  readonly kept: readonly number[];
  readonly tries: number;
}

const MOST_TRIES = 300;

export async function shrink(
  history: History,
  law: string,
  options: RunOptions,
  mostTries = MOST_TRIES,
): Promise<Shrunk> {
  let tries = 0;
  const stillBreaks = async (indexes: readonly number[]): Promise<boolean> => {
    tries += 1;
    const { violations } = await runHistory(only(history, indexes), options);
    return violations[0]?.law === law;
  };
  /** Tries to leave out each chunk of that size, starting from the end. */
  const pass = async (indexes: readonly number[], size: number): Promise<readonly number[]> => {
    let rest = indexes;
    for (let at = rest.length - size; at > -size; at -= size) {
      if (tries >= mostTries) return rest;
      const shorter = rest.filter((_, index) => index < at || index >= at + size);
      if (shorter.length < rest.length && (await stillBreaks(shorter))) rest = shorter;
    }
    return rest;
  };
  let kept: readonly number[] = history.actions.map((_, at) => at);
  for (let size = Math.ceil(kept.length / 2); size > 1; size = Math.ceil(size / 2)) kept = await pass(kept, size);
  for (;;) {
    const shorter = await pass(kept, 1); // an action that was needed may be superfluous once others are gone
    if (shorter.length === kept.length) return { kept, tries };
    kept = shorter;
  }
}

/** The history with only the actions at these indexes. */
export function only(history: History, indexes: readonly number[]): History {
  const chosen = new Set(indexes);
  return { ...history, actions: history.actions.filter((_, at) => chosen.has(at)) };
}
