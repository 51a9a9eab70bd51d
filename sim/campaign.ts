/**
 * Many histories, one after the other, and what was found in them. A history that breaks a law is shortened, and told
 * with the command that replays it.
 */
import { describe, drawHistory, HISTORY_LENGTH, type History, type Setup } from "./history.ts";
import type { PlantedBugName } from "./planted-bugs.ts";
import { runHistory } from "./run-history.ts";
import { only, shrink } from "./shrink.ts";

export interface CampaignOptions {
  readonly firstSeed: number;
  readonly seeds: number;
  /** Actions per history. */
  readonly length?: number;
  /** Places of the actions to play; all of them when absent. */
  readonly places?: readonly number[] | undefined;
  readonly bug?: PlantedBugName | undefined;
  /** No more histories once that many have failed. */
  readonly mostFindings?: number;
  readonly onProgress?: (progress: Progress) => void;
}

export interface Progress {
  readonly histories: number;
  readonly seeds: number;
  readonly findings: number;
}

/** One history that broke a law, as short as it could be made. */
export interface Finding {
  readonly seed: number;
  readonly law: string;
  readonly what: string;
  /** Since the beginning of the whole history, in virtual time. */
  readonly atMs: number;
  readonly setup: Setup;
  readonly actions: readonly string[];
  readonly replay: string;
}

export interface CampaignResult {
  readonly histories: number;
  readonly actions: number;
  /** Happenings on the timeline, of all histories together. */
  readonly steps: number;
  /** Writes of the controllers that Azure accepted. */
  readonly writes: number;
  readonly findings: readonly Finding[];
}

const MOST_FINDINGS = 5;

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { firstSeed, seeds, length, places, bug, mostFindings = MOST_FINDINGS, onProgress } = options;
  const findings: Finding[] = [];
  const sums = { histories: 0, actions: 0, steps: 0, writes: 0 };
  for (let seed = firstSeed; seed < firstSeed + seeds && findings.length < mostFindings; seed++) {
    const whole = drawHistory(seed, length);
    const history = places === undefined ? whole : only(whole, places);
    const { violations, steps, writes } = await runHistory(history, { bug });
    sums.histories += 1;
    sums.actions += history.actions.length;
    sums.steps += steps;
    sums.writes += writes;
    const [first] = violations;
    if (first !== undefined) {
      const kept = places ?? (await shrink(whole, first.law, { bug })).kept;
      findings.push(await findingOf(whole, kept, bug));
    }
    onProgress?.({ histories: sums.histories, seeds, findings: findings.length });
  }
  return { ...sums, findings };
}

async function findingOf(whole: History, kept: readonly number[], bug: PlantedBugName | undefined): Promise<Finding> {
  const { seed, setup, actions } = whole;
  const { violations } = await runHistory(only(whole, kept), { bug });
  const { law = "", what = "", atMs = 0 } = violations[0] ?? {};
  const told = kept.flatMap((place) => actions[place] ?? []).map(describe);
  return { seed, law, what, atMs, setup, actions: told, replay: replayOf(whole, kept, bug) };
}

/** The command that plays it again. */
function replayOf({ seed, actions }: History, kept: readonly number[], bug: PlantedBugName | undefined): string {
  return [
    `bin/azlb simulate --seed ${seed} --only ${kept.length === 0 ? "none" : kept.join(",")}`,
    ...(actions.length === HISTORY_LENGTH ? [] : [`--length ${actions.length}`]),
    ...(bug === undefined ? [] : [`--plant ${bug}`]),
  ].join(" ");
}

/** For people. */
export function renderFinding({ seed, law, what, atMs, setup, actions, replay }: Finding): string {
  const world = Object.entries(setup).map(([key, value]) => `${key}=${String(value)}`);
  return [
    `seed ${seed} breaks the law "${law}" after ${(atMs / 1000).toFixed(1)} s of virtual time:`,
    `  ${what}`,
    `the history, shortened to ${actions.length} actions, in a world with ${world.join(" ")}:`,
    ...actions.map((action, at) => `  ${String(at + 1).padStart(3)}. ${action}`),
    `replay it:  ${replay}`,
    `every call: ${replay} --trace`,
    "",
  ].join("\n");
}
