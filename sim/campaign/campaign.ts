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
  /** Instead of one drawn from a seed: a history that was stored, and where. */
  readonly stored?: { readonly history: History; readonly file: string } | undefined;
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
  /** For people. */
  readonly actions: readonly string[];
  readonly replay: string;
  /** To be stored: it stays the same when histories come to be drawn otherwise. */
  readonly history: History;
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

export const MOST_FINDINGS = 5;

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { firstSeed, seeds, stored, length, places, bug, mostFindings = MOST_FINDINGS, onProgress } = options;
  const findings: Finding[] = [];
  const sums = { histories: 0, actions: 0, steps: 0, writes: 0 };
  for (let seed = firstSeed; seed < firstSeed + seeds && findings.length < mostFindings; seed++) {
    const whole = stored?.history ?? drawHistory(seed, length);
    const history = places === undefined ? whole : only(whole, places);
    const { violations, steps, writes } = await runHistory(history, { bug });
    sums.histories += 1;
    sums.actions += history.actions.length;
    sums.steps += steps;
    sums.writes += writes;
    const [first] = violations;
    if (first !== undefined) {
      const kept = places ?? (await shrink(whole, first.law, { bug })).kept;
      findings.push(await findingOf(whole, kept, options));
    }
    onProgress?.({ histories: sums.histories, seeds, findings: findings.length });
  }
  return { ...sums, findings };
}

async function findingOf(whole: History, kept: readonly number[], options: CampaignOptions): Promise<Finding> {
  const history = only(whole, kept);
  const { seed, setup } = history;
  const { violations } = await runHistory(history, { bug: options.bug });
  const { law = "", what = "", atMs = 0 } = violations[0] ?? {};
  const actions = history.actions.map(describe);
  return { seed, law, what, atMs, setup, actions, replay: replayOf(whole, kept, options), history };
}

/** The command that plays it again. */
function replayOf(
  { seed, actions }: History,
  kept: readonly number[],
  { stored, bug }: Pick<CampaignOptions, "stored" | "bug">,
): string {
  const isDrawn = stored === undefined;
  return [
    `bin/azlb simulate ${isDrawn ? `--seed ${seed}` : `--history ${stored.file}`}`,
    ...(kept.length === actions.length ? [] : [`--only ${kept.length === 0 ? "none" : kept.join(",")}`]),
    ...(isDrawn && actions.length !== HISTORY_LENGTH ? [`--length ${actions.length}`] : []),
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
