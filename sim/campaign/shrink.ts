/**
 * Shortens a failing history: leaves actions out, in large pieces first, then one by one, as long as the same law is
 * still broken. Bounded: what it has when its tries are spent is good enough to read.
 */
import type { History } from "./history.ts";
import { runHistory, type RunOptions } from "./run-history.ts";

export interface Shrunk {
  /** Places of the actions that are left, in the whole history. */
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
  const stillBreaks = async (places: readonly number[]): Promise<boolean> => {
    tries += 1;
    const { violations } = await runHistory(only(history, places), options);
    return violations[0]?.law === law;
  };
  /** Leaves out what it can in pieces of that size, from the end. */
  const pass = async (places: readonly number[], size: number): Promise<readonly number[]> => {
    let rest = places;
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
    const shorter = await pass(kept, 1); // what could not go before may go once others have
    if (shorter.length === kept.length) return { kept, tries };
    kept = shorter;
  }
}

/** The history with only these of its actions. */
export function only(history: History, places: readonly number[]): History {
  const chosen = new Set(places);
  return { ...history, actions: history.actions.filter((_, at) => chosen.has(at)) };
}
