/** Plays one history to its end and says what was against the laws. */
import { describe, type History } from "./history.ts";
import { Judge } from "../laws/law-checker.ts";
import type { Violation } from "../laws/law.ts";
import { remainingPlan, type RemainingPlan } from "../laws/quiescence.ts";
import { mostWrites } from "../laws/write-budget.ts";
import { PLANTED_BUGS, type PlantedBugName } from "./planted-bugs.ts";
import { Unheard } from "./unhandled-rejections.ts";
import { World } from "../environment/simulation.ts";

export interface RunOptions {
  readonly keepsLines?: boolean;
  readonly bug?: PlantedBugName | undefined;
}

export interface Outcome {
  readonly violations: readonly Violation[];
  readonly digest: string;
  readonly lines: readonly string[];
  readonly steps: number;
  readonly writes: number;
}

/** Long enough for the longest waits of retries, and a look at everything. */
const SETTLE_MS = 400_000;
const MOST_SETTLING = 8;

export async function runHistory(history: History, { keepsLines = false, bug }: RunOptions = {}): Promise<Outcome> {
  const { seed, setup, actions } = history;
  const world = new World({ seed, setup, keepsLines, bug: bug === undefined ? undefined : PLANTED_BUGS[bug] });
  const judge = new Judge(world);
  const unheard = new Unheard();
  world.start(judge);
  await world.timeline.pass(1_000);
  for (const action of actions) {
    world.trace.add(`# ${describe(action)}`);
    world.perform(action);
    await world.timeline.pass(action.thenMs);
    judge.judgeMoment();
    if (judge.violations.length > 0) break;
  }
  if (judge.violations.length === 0) {
    judge.judgeSettled(await settle(world));
    judge.judgeWrites(mostWrites(history));
    world.startAfresh();
    judge.judgeEnd(await settle(world));
  }
  for (const error of await unheard.end()) judge.onFailure("somebody", error);
  return {
    violations: judge.violations,
    digest: world.trace.digest,
    lines: world.trace.lines,
    steps: world.timeline.steps,
    writes: judge.ourWrites,
  };
}

/** Nobody does anything more, until there is nothing left to do; or too much, which is returned. */
async function settle(world: World): Promise<RemainingPlan> {
  world.calm();
  for (let look = 1; ; look++) {
    await world.timeline.pass(SETTLE_MS);
    world.azure.settle();
    const plan = remainingPlan(world);
    if (plan.steps.length === 0 || look === MOST_SETTLING) return plan;
  }
}
