/**
 * `azlb simulate`: runs the real controllers through random histories on virtual time, in one process, and checks the laws
 * that must hold. Reads flags and prints a report; exit code 1 if a law is broken or a planted bug is not detected. The
 * simulation itself is `sim/`.
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
  readonly driftCheck: boolean;
  readonly trace?: boolean;
  readonly json?: boolean;
}

const MOST_SEED = 2 ** 32 - 1;
const DEFAULT_SEEDS = 100;
const MOST_LENGTH = 10_000;
const MOST_JOBS = 256;

export function registerSimulate(azlb: Command): void {
  azlb
    .command("simulate")
    .description("run the controllers through random histories and check the laws; exit 1 if one is broken")
    .option("--seeds <count>", `number of histories (default: ${DEFAULT_SEEDS}, or one with --seed)`)
    .option("--seed <seed>", "seed of the first history; the same seed always gives the same history (default: 1)")
    .option("--length <actions>", "actions per history", "100")
    .option("--jobs <count>", "worker threads", "1")
    .option("--only <indexes>", "run only these actions of the history, as printed with a finding")
    .option("--history <file>", 'run a recorded history: the "history" of a finding, as printed by --json')
    .option("--no-drift-check", "controllers without a drift check, and no actions that only a drift check can find")
    .option("--trace", "print every action and call of one history")
    .option(
      "--planted",
      "plant each known bug and print after how many histories a law detects it; exit 1 if one is not detected",
    )
    .option("--json", "print one JSON object")
    .addOption(new Option("--plant <bug>", "for tests: plant this bug in the controller").hideHelp())
    .action(run);
}

async function run(flags: SimulateFlags): Promise<void> {
  const seeds = flags.seeds === undefined ? undefined : parseFlagNumber("--seeds", flags.seeds, 1, MOST_SEED);
  const options: CampaignOptions = {
    firstSeed: parseFlagNumber("--seed", flags.seed ?? "1", 0, MOST_SEED),
    seeds: seeds ?? (flags.seed === undefined && flags.history === undefined ? DEFAULT_SEEDS : 1),
    length: parseFlagNumber("--length", flags.length, 1, MOST_LENGTH),
    recorded: flags.history === undefined ? undefined : await readRecordedHistory(flags.history),
    indexes: parseIndexes(flags.only),
    bug: await bugOf(flags.plant),
    isWithoutDriftCheck: !flags.driftCheck,
    onProgress: progressOnTerminal(),
  };
  if (flags.planted === true) await detect({ ...options, seeds: seeds ?? DEFAULT_SEEDS }, flags);
  else if (flags.trace === true) await trace(options);
  else await check(options, flags);
}

async function check(options: CampaignOptions, { jobs, json }: SimulateFlags): Promise<void> {
  const [{ renderFinding }, { runCampaignOnWorkers }] = await Promise.all([
    import("../../sim/campaign/campaign.ts"),
    import("../../sim/campaign/campaign-pool.ts"),
  ]);
  const startMs = performance.now();
  const result = await runCampaignOnWorkers(parseFlagNumber("--jobs", jobs, 1, MOST_JOBS), options);
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

async function detect(options: CampaignOptions, { json }: SimulateFlags): Promise<void> {
  const { detectPlantedBugs, renderDetections } = await import("../../sim/campaign/detect-planted-bugs.ts");
  const detections = await detectPlantedBugs(options);
  clearProgress();
  process.stdout.write(json === true ? `${JSON.stringify({ planted: detections })}\n` : renderDetections(detections));
  if (detections.some(({ law }) => law === undefined)) process.exitCode = 1;
}

async function trace(options: CampaignOptions): Promise<void> {
  const { firstSeed, recorded, indexes, bug } = options;
  const [{ historyOf }, { runHistory }, { only }] = await Promise.all([
    import("../../sim/campaign/campaign.ts"),
    import("../../sim/campaign/run-history.ts"),
    import("../../sim/campaign/shrink.ts"),
  ]);
  const whole = recorded?.history ?? historyOf(firstSeed, options);
  const history = indexes === undefined ? whole : only(whole, indexes);
  const { lines, violations, digest } = await runHistory(history, { bug, keepLines: true });
  process.stdout.write(`${lines.join("\n")}\ndigest ${digest}\n`);
  if (violations.length > 0) process.exitCode = 1;
}

async function readRecordedHistory(file: string): Promise<CampaignOptions["recorded"]> {
  const { unknownActionKind } = await import("../../sim/campaign/history.ts");
  const history = readHistory(file);
  const unknown = unknownActionKind(history);
  if (unknown !== undefined) throw new InputError(`--history ${file} has an unknown kind of action: ${unknown}`);
  return { file, history };
}

function readHistory(file: string): History {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as History;
  } catch (error) {
    throw new InputError(`--history ${file} cannot be read: ${(error as Error).message}`);
  }
}

/** `none`, or indexes from 0, separated by commas. */
function parseIndexes(only: string | undefined): number[] | undefined {
  if (only === undefined) return undefined;
  if (only === "none") return [];
  return only.split(",").map((index) => parseFlagNumber("--only", index, 0, MOST_LENGTH));
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

/** A progress line that is updated in place, on a terminal only. */
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
