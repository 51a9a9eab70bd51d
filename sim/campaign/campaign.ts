/**
 * Runs many histories one after the other and collects the findings. A history that breaks a law is shrunk and reported
 * with the command that replays it. How one history runs is `run-history.ts`; several threads are `campaign-pool.ts`.
 */
import { describe, drawHistory, HISTORY_LENGTH, type History, type Setup, withoutDriftCheck } from "./history.ts";
import type { PlantedBugName } from "./planted-bugs.ts";
import { runHistory } from "./run-history.ts";
import { only, shrink } from "./shrink.ts";

export interface CampaignOptions {
  readonly firstSeed: number;
  readonly seeds: number;
  /** A recorded history and its file, to be run instead of one drawn from a seed. */
  readonly recorded?: { readonly history: History; readonly file: string } | undefined;
  /** Actions per history. */
  readonly length?: number;
  /** Indexes of the actions to run; all of them when absent. */
  readonly indexes?: readonly number[] | undefined;
  readonly bug?: PlantedBugName | undefined;
  readonly isWithoutDriftCheck?: boolean | undefined;
  /** The campaign stops after this many findings. */
  readonly mostFindings?: number;
  readonly onProgress?: (progress: Progress) => void;
}

export interface Progress {
  readonly histories: number;
  readonly seeds: number;
  readonly findings: number;
}

/** One history that broke a law, shrunk. */
export interface Finding {
  readonly seed: number;
  readonly law: string;
  readonly what: string;
  /** Virtual time since the start of the shrunk history. */
  readonly atMs: number;
  readonly setup: Setup;
  /** One line per action, to be read. */
  readonly actions: readonly string[];
  readonly replay: string;
  /** To be recorded: unlike a seed, it survives changes of how histories are drawn. */
  readonly history: History;
}

export interface CampaignResult {
  readonly histories: number;
  readonly actions: number;
  /** Tasks that the timelines of all histories have run. */
  readonly steps: number;
  /** Writes by the controllers that Azure accepted. */
  readonly writes: number;
  readonly findings: readonly Finding[];
}

export const MOST_FINDINGS = 5;

/** Of a seed, as the options ask for it. */
export function historyOf(
  seed: number,
  { length, isWithoutDriftCheck = false }: Pick<CampaignOptions, "length" | "isWithoutDriftCheck">,
): History {
  const history = drawHistory(seed, length);
  return isWithoutDriftCheck ? withoutDriftCheck(history) : history;
}

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { firstSeed, seeds, recorded, indexes, bug, mostFindings = MOST_FINDINGS, onProgress } = options;
  const findings: Finding[] = [];
  const sums = { histories: 0, actions: 0, steps: 0, writes: 0 };
  for (let seed = firstSeed; seed < firstSeed + seeds && findings.length < mostFindings; seed++) {
    const whole = recorded?.history ?? historyOf(seed, options);
    const history = indexes === undefined ? whole : only(whole, indexes);
    const { violations, steps, writes } = await runHistory(history, { bug });
    sums.histories += 1;
    sums.actions += history.actions.length;
    sums.steps += steps;
    sums.writes += writes;
    const [first] = violations;
    if (first !== undefined) {
      const kept = indexes ?? (await shrink(whole, first.law, { bug })).kept;
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

/** The command that runs it again. */
function replayOf(
  { seed, actions }: History,
  kept: readonly number[],
  { recorded, bug, isWithoutDriftCheck }: Pick<CampaignOptions, "recorded" | "bug" | "isWithoutDriftCheck">,
): string {
  const isDrawn = recorded === undefined;
  return [
    `bin/azlb simulate ${isDrawn ? `--seed ${seed}` : `--history ${recorded.file}`}`,
    ...(kept.length === actions.length ? [] : [`--only ${kept.length === 0 ? "none" : kept.join(",")}`]),
    ...(isDrawn && actions.length !== HISTORY_LENGTH ? [`--length ${actions.length}`] : []),
    ...(isDrawn && isWithoutDriftCheck === true ? ["--no-drift-check"] : []),
    ...(bug === undefined ? [] : [`--plant ${bug}`]),
  ].join(" ");
}

/** As text for a terminal. */
export function renderFinding({ seed, law, what, atMs, setup, actions, replay }: Finding): string {
  const configuration = Object.entries(setup).map(([key, value]) => `${key}=${String(value)}`);
  return [
    `seed ${seed} breaks the law "${law}" after ${(atMs / 1000).toFixed(1)} s of virtual time:`,
    `  ${what}`,
    `the history, shortened to ${actions.length} actions, in a cluster with ${configuration.join(" ")}:`,
    ...actions.map((action, at) => `  ${String(at + 1).padStart(3)}. ${action}`),
    `replay it:  ${replay}`,
    `every call: ${replay} --trace`,
    "",
  ].join("\n");
}
