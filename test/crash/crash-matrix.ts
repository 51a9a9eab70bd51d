/** Scenarios × crash points × survived. */
import { openCrashRuns, type CrashRuns } from "./crash-runs.ts";
import { renderPoint, type CrashPoint } from "./crash-points.ts";
import type { CrashScenario } from "./scenarios/scenario.ts";
import { errorText } from "../../src/core/util/text.ts";

export interface ScenarioResult {
  readonly scenario: string;
  readonly crashPoints: number;
  readonly survived: number;
  /** The run needed fewer writes than the recorded one; it ended well all the same. */
  readonly notReached: number;
  readonly failures: readonly { readonly point: string; readonly why: string }[];
}

export interface MatrixOptions {
  /** Runs at a time. */
  readonly jobs: number;
  readonly choose?: (points: readonly CrashPoint[]) => readonly CrashPoint[];
  /** A run may need fewer writes than the recorded one, and never come to its last points: so long is waited for one. */
  readonly reachedWithinMs?: number;
  readonly onProgress?: (line: string) => void;
}

const REACHED_WITHIN_MS = 20_000;

export async function crashScenario(scenario: CrashScenario, options: MatrixOptions): Promise<ScenarioResult> {
  let runs: CrashRuns;
  try {
    runs = await openCrashRuns(scenario);
  } catch (error) {
    const failure = { point: "the undisturbed run", why: errorText(error) };
    return { scenario: scenario.name, crashPoints: 0, survived: 0, notReached: 0, failures: [failure] };
  }
  const { choose = (points) => points, reachedWithinMs = REACHED_WITHIN_MS, onProgress } = options;
  const points = choose(runs.points);
  const queue = [...points];
  const failures: { point: string; why: string }[] = [];
  let [survived, notReached] = [0, 0];
  const worker = async (): Promise<void> => {
    for (let point = queue.shift(); point !== undefined; point = queue.shift()) {
      try {
        if ((await runs.survive(point, reachedWithinMs)) === "survived") survived++;
        else notReached++;
      } catch (error) {
        failures.push({ point: renderPoint(point), why: errorText(error) });
        onProgress?.(`${scenario.name}, killed ${renderPoint(point)}: did not survive`);
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: options.jobs }, worker));
  } finally {
    runs.close();
  }
  onProgress?.(`${scenario.name}: ${survived} of ${points.length} survived, ${notReached} not reached`);
  return { scenario: scenario.name, crashPoints: points.length, survived, notReached, failures };
}

export function renderMatrix(results: readonly ScenarioResult[]): string {
  const rows = results.map(({ scenario, crashPoints, survived, notReached }) =>
    [scenario, crashPoints, survived, notReached].join(" | "),
  );
  const sum = (of: (result: ScenarioResult) => number): number =>
    results.reduce((total, result) => total + of(result), 0);
  const total = ["all", sum((one) => one.crashPoints), sum((one) => one.survived), sum((one) => one.notReached)];
  const head = ["Scenario | Crash points | Survived | Not reached", "---|---|---|---"];
  return [...head, ...rows, total.join(" | ")].map((row) => `| ${row} |\n`).join("");
}
