/**
 * `azlb simulate`: the real controllers through random histories in one process, on virtual time, with the laws that
 * must hold. Flags in, a report out; exit code 1 when a law was broken or a planted bug got away. The rest is `sim/`.
 */
import { readFileSync } from "node:fs";

import { Option, type Command } from "commander";

import type { CampaignOptions, CampaignResult, Progress } from "../../sim/campaign/campaign.ts";
import type { History } from "../../sim/campaign/history.ts";
import type { PlantedBugName } from "../../sim/campaign/planted-bugs.ts";
import { parseFlagNumber } from "./flag-values.ts";
import { InputError } from "./input-error.ts";

interface SimulateFlags {
  readonly seeds?: string;
  readonly seed?: string;
  readonly length: string;
  readonly jobs: string;
  readonly only?: string;
  readonly history?: string;
  readonly plant?: string;
  readonly planted?: boolean;
  readonly trace?: boolean;
  readonly json?: boolean;
}

const MOST_SEED = 2 ** 32 - 1;
const USUAL_SEEDS = 100;
const MOST_LENGTH = 10_000;
const MOST_JOBS = 256;

export function registerSimulate(azlb: Command): void {
  azlb
    .command("simulate")
    .description("play random histories against the controllers, and say which laws do not hold")
    .option("--seeds <count>", `histories to play (default: ${USUAL_SEEDS}, or one with --seed)`)
    .option("--seed <seed>", "the first history's seed; one seed is always the same history (default: 1)")
    .option("--length <actions>", "actions per history", "100")
    .option("--jobs <count>", "processors to use", "1")
    .option("--only <places>", "only these of the history's actions, as a finding names them")
    .option("--history <file>", 'a history that was stored: the "history" of a finding, as --json prints it')
    .option("--trace", "print every action and every call of one history")
    .option("--planted", "plant each known bug, and say after how many histories it is caught")
    .option("--json", "print one JSON object")
    .addOption(new Option("--plant <bug>", "for tests: a controller with that bug").hideHelp())
    .action(run);
}

async function run(flags: SimulateFlags): Promise<void> {
  const seeds = flags.seeds === undefined ? undefined : parseFlagNumber("--seeds", flags.seeds, 1, MOST_SEED);
  const options: CampaignOptions = {
    firstSeed: parseFlagNumber("--seed", flags.seed ?? "1", 0, MOST_SEED),
    seeds: seeds ?? (flags.seed === undefined && flags.history === undefined ? USUAL_SEEDS : 1),
    length: parseFlagNumber("--length", flags.length, 1, MOST_LENGTH),
    stored: flags.history === undefined ? undefined : storedHistory(flags.history),
    places: placesOf(flags.only),
    bug: await bugOf(flags.plant),
    onProgress: progressOnTerminal(),
  };
  if (flags.planted === true) await hunt({ ...options, seeds: seeds ?? USUAL_SEEDS }, flags);
  else if (flags.trace === true) await trace(options);
  else await play(options, flags);
}

async function play(options: CampaignOptions, { jobs, json }: SimulateFlags): Promise<void> {
  const [{ renderFinding }, { runCampaignBy }] = await Promise.all([
    import("../../sim/campaign/campaign.ts"),
    import("../../sim/campaign/campaign-pool.ts"),
  ]);
  const startMs = performance.now();
  const result = await runCampaignBy(parseFlagNumber("--jobs", jobs, 1, MOST_JOBS), options);
  const seconds = (performance.now() - startMs) / 1000;
  clearProgress();
  const { findings, histories, actions, steps, writes } = result;
  process.stdout.write(
    json === true
      ? `${JSON.stringify({ histories, actions, violations: findings, seconds, steps, writes })}\n`
      : `${findings.map((finding) => `${renderFinding(finding)}\n`).join("")}${summary(result, seconds)}`,
  );
  if (findings.length > 0) process.exitCode = 1;
}

function summary({ histories, actions, steps, writes, findings }: CampaignResult, seconds: number): string {
  const pace = (histories / seconds).toFixed(1);
  return [
    `${histories} histories, ${actions} actions, ${steps} steps, ${writes} writes to Azure in ${seconds.toFixed(1)} s`,
    ` (${pace} histories per second): `,
    findings.length === 0 ? "all laws hold\n" : `${findings.length} break a law\n`,
  ].join("");
}

async function hunt(options: CampaignOptions, { json }: SimulateFlags): Promise<void> {
  const { huntPlantedBugs, renderHunt } = await import("../../sim/campaign/detect-planted-bugs.ts");
  const caught = await huntPlantedBugs(options);
  clearProgress();
  process.stdout.write(json === true ? `${JSON.stringify({ planted: caught })}\n` : renderHunt(caught));
  if (caught.some(({ law }) => law === undefined)) process.exitCode = 1;
}

async function trace({ firstSeed, stored, length, places, bug }: CampaignOptions): Promise<void> {
  const [{ drawHistory }, { runHistory }, { only }] = await Promise.all([
    import("../../sim/campaign/history.ts"),
    import("../../sim/campaign/run-history.ts"),
    import("../../sim/campaign/shrink.ts"),
  ]);
  const whole = stored?.history ?? drawHistory(firstSeed, length);
  const history = places === undefined ? whole : only(whole, places);
  const { lines, violations, digest } = await runHistory(history, { bug, keepsLines: true });
  process.stdout.write(`${lines.join("\n")}\ndigest ${digest}\n`);
  if (violations.length > 0) process.exitCode = 1;
}

function storedHistory(file: string): CampaignOptions["stored"] {
  try {
    return { file, history: JSON.parse(readFileSync(file, "utf8")) as History };
  } catch (error) {
    throw new InputError(`--history ${file} cannot be read: ${(error as Error).message}`);
  }
}

/** `none`, or places from 0 separated by commas. */
function placesOf(only: string | undefined): number[] | undefined {
  if (only === undefined) return undefined;
  if (only === "none") return [];
  return only.split(",").map((place) => parseFlagNumber("--only", place, 0, MOST_LENGTH));
}

async function bugOf(plant: string | undefined): Promise<PlantedBugName | undefined> {
  if (plant === undefined) return undefined;
  const { PLANTED_BUG_NAMES } = await import("../../sim/campaign/planted-bugs.ts");
  const found = PLANTED_BUG_NAMES.find((name) => name === plant);
  if (found === undefined) throw new InputError(`--plant is "${plant}"; it takes ${PLANTED_BUG_NAMES.join(", ")}`);
  return found;
}

const CLEAR_LINE = "\r\u001B[K";
const SHOW_EVERY_MS = 200;

/** One line that changes, for whoever sits and waits. */
function progressOnTerminal(): (progress: Progress) => void {
  const startMs = performance.now();
  let shownMs = startMs;
  return ({ histories, seeds, findings }) => {
    const nowMs = performance.now();
    if (!process.stderr.isTTY || nowMs - shownMs < SHOW_EVERY_MS) return;
    shownMs = nowMs;
    const pace = ((1000 * histories) / (nowMs - startMs)).toFixed(1);
    process.stderr.write(`${CLEAR_LINE}${histories}/${seeds} histories, ${findings} break a law, ${pace} per second`);
  };
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write(CLEAR_LINE);
}
