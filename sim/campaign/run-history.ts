/**
 * Runs one history to its end and returns what broke a law: the actions in order, then a settled cluster, then the same
 * after a restart of every controller. What each action does is `environment/simulation.ts`, what must hold is `laws/`.
 */
import { describe, type History } from "./history.ts";
import { LawChecker } from "../laws/law-checker.ts";
import type { Violation } from "../laws/law.ts";
import { failingSince, refusedByAzure, remainingPlan, type RemainingPlan } from "../laws/remaining-plan.ts";
import { mostWrites } from "../laws/write-budget.ts";
import { PLANTED_BUGS, type PlantedBugName } from "./planted-bugs.ts";
import { Simulation } from "../environment/simulation.ts";

export interface RunOptions {
  readonly keepLines?: boolean;
  readonly bug?: PlantedBugName | undefined;
}

export interface Outcome {
  readonly violations: readonly Violation[];
  readonly digest: string;
  readonly lines: readonly string[];
  readonly steps: number;
  readonly writes: number;
}

/** Longer than the longest retry delay plus one drift check. */
const SETTLE_MS = 400_000;
const MOST_SETTLE_ROUNDS = 8;
/** A Service that was refused is looked at again after a minute, and what that leads to takes a while. */
const CALM_MS = 90_000;
/** After a failure, retries wait for up to twice as long as it has failed before, and never longer than that. */
const MOST_RETRY_MS = 300_000;

export async function runHistory(history: History, { keepLines = false, bug }: RunOptions = {}): Promise<Outcome> {
  const { seed, setup, actions } = history;
  const simulation = new Simulation({ seed, setup, keepLines, bug: bug === undefined ? undefined : PLANTED_BUGS[bug] });
  const checker = new LawChecker(simulation);
  const rejections = new UnhandledRejections();
  simulation.start(checker);
  await simulation.timeline.advance(1_000);
  for (const action of actions) {
    simulation.trace.add(`# ${describe(action)}`);
    simulation.perform(action);
    if (action.do === "calm") checker.checkCalm(await calm(simulation));
    await simulation.timeline.advance(action.thenMs);
    checker.checkBetweenActions();
    if (checker.violations.length > 0) break;
  }
  if (checker.violations.length === 0) {
    checker.checkSettled(await settle(simulation));
    checker.checkWriteCount(mostWrites(history));
    simulation.restartAll();
    checker.checkAfterRestart(await settle(simulation));
  }
  for (const error of await rejections.end()) checker.onFailure("unhandled rejection", error);
  return {
    violations: checker.violations,
    digest: simulation.trace.digest,
    lines: simulation.trace.lines,
    steps: simulation.timeline.steps,
    writes: checker.ourWrites,
  };
}

/** Lets time pass without actions or faults for as long as it may take until all is right; returns the plan that remains. */
async function calm(simulation: Simulation): Promise<RemainingPlan> {
  const { timeline, troubledMs, calmSinceMs } = simulation;
  const forMs = CALM_MS + Math.min(MOST_RETRY_MS, 2 * troubledMs);
  await timeline.advance(calmSinceMs + forMs - timeline.elapsedMs);
  simulation.azure.settle();
  return remainingPlan(simulation, refusedByAzure(simulation));
}

/** Lets time pass without actions or faults until the plan is empty; returns the plan that remains after the last try. */
async function settle(simulation: Simulation): Promise<RemainingPlan> {
  simulation.endDisturbances();
  for (let round = 1; ; round++) {
    await simulation.timeline.advance(SETTLE_MS);
    simulation.azure.settle();
    const plan = remainingPlan(simulation, failingSince(simulation, simulation.restartRevision));
    if (plan.steps.length === 0 || round === MOST_SETTLE_ROUNDS) return plan;
  }
}

/** Collects unhandled promise rejections. Each would end a real controller process: that is the default of Node.js. */
class UnhandledRejections {
  readonly #errors: unknown[] = [];
  readonly #onRejection = (error: unknown): void => void this.#errors.push(error);

  constructor() {
    process.on("unhandledRejection", this.#onRejection);
  }

  /** Node reports a rejection at the end of a turn of the event loop, so this waits for one turn. */
  async end(): Promise<readonly unknown[]> {
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", this.#onRejection);
    return this.#errors;
  }
}
