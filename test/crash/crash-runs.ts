/**
 * One scenario, many endings: once without harm, to learn the writes and the end state; then once per crash point from
 * the very same beginning, with the controller killed there and started again. It survived if it comes to the same end
 * state with nothing left to do.
 */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import type { ControllerProcess } from "../support/controller-process.ts";
import { eventually } from "../support/eventually.ts";
import { CrashBed } from "./crash-bed.ts";
import { armPoint, countWrites, disarm, pointsOf, renderPoint, type CrashPoint } from "./crash-points.ts";
import { endState, unsettled, type EndState } from "./end-state.ts";
import type { CrashScenario } from "./scenarios/scenario.ts";
import { assertSettled } from "../support/settled-plan.ts";

export interface CrashRuns {
  readonly points: readonly CrashPoint[];
  /** Rejects, with the difference, where it did not survive. */
  survive(point: CrashPoint, reachedWithinMs: number): Promise<"survived" | "not reached">;
  close(): void;
}

/** Generous: the machine may be busy. */
const SETTLED_WITHIN_MS = 240_000;
/** Nothing changes for this long: at rest. */
const REST_MS = 1_500;

export async function openCrashRuns(scenario: CrashScenario): Promise<CrashRuns> {
  const root = mkdtempSync(join(tmpdir(), "azlb-crash-"));
  const beginning = join(root, "beginning");
  let runs = 0;
  const reopen = (): Promise<CrashBed> => {
    const directory = join(root, `run-${++runs}`);
    cpSync(beginning, directory, { recursive: true });
    return CrashBed.reopen(directory, scenario.shape);
  };
  await prepare(scenario, beginning);
  const { points, end } = await record(scenario, await reopen());
  return {
    points,
    survive: async (point, reachedWithinMs) => survive(scenario, { point, reachedWithinMs }, end, await reopen()),
    close: () => rmSync(root, { recursive: true, force: true }),
  };
}

async function prepare(scenario: CrashScenario, directory: string): Promise<void> {
  await onBed(scenario, await CrashBed.make(directory, scenario.shape), async (bed, start) => {
    await start();
    await atRest(bed);
    for (const act of scenario.before ?? []) {
      await act(bed);
      await atRest(bed);
    }
  });
}

/** The undisturbed run. */
async function record(scenario: CrashScenario, opened: CrashBed): Promise<{ points: CrashPoint[]; end: EndState }> {
  return onBed(scenario, opened, async (bed, start) => {
    if (scenario.startsAfterAct !== true) await start();
    const counts = await countWrites(bed);
    await scenario.act(bed);
    if (scenario.startsAfterAct === true) await start();
    const end = await atRest(bed);
    return { points: pointsOf(await counts()), end };
  });
}

async function survive(
  scenario: CrashScenario,
  { point, reachedWithinMs }: { readonly point: CrashPoint; readonly reachedWithinMs: number },
  end: EndState,
  opened: CrashBed,
): Promise<"survived" | "not reached"> {
  return onBed(scenario, opened, async (bed, start) => {
    const early = scenario.startsAfterAct === true ? undefined : await start();
    const reached = await armPoint(bed, point);
    await scenario.act(bed);
    const victim = early ?? (await start({ waits: false }));
    const outcome = await reached(reachedWithinMs).then(
      () => "survived" as const,
      () => "not reached" as const,
    );
    await victim.kill();
    await disarm(bed);
    const heir = await start();
    const where = `${scenario.name}, killed ${renderPoint(point)}`;
    await eventually(async () => {
      assert.deepEqual(await endState(bed), end, `${where}\n${heir.output}`);
      assertSettled(await bed.plan(), where);
    }, SETTLED_WITHIN_MS);
    assert.equal(heir.ended, false, `${where}: the controller ended\n${heir.output}`);
    await heir.stop();
    assert.deepEqual(await endState(bed), end, `${where}, after the controller ended`);
    return outcome;
  });
}

/** `waits`: until it is ready, which one that is cut off may never be. */
type Start = (options?: { readonly waits: boolean }) => Promise<ControllerProcess>;

/** Closes the bed and ends the controllers that were started on it, however the work ends. */
async function onBed<R>(
  { flags }: CrashScenario,
  bed: CrashBed,
  work: (bed: CrashBed, start: Start) => Promise<R>,
): Promise<R> {
  const started: ControllerProcess[] = [];
  const start: Start = async ({ waits } = { waits: true }) => {
    const controller = await bed.startController(flags);
    started.push(controller);
    if (waits) await controller.ready();
    return controller;
  };
  try {
    return await work(bed, start);
  } finally {
    await Promise.all(started.map((controller) => controller.kill()));
    await bed.close();
  }
}

/** The state once nothing is planned and nothing has changed for a while. */
async function atRest(bed: CrashBed): Promise<EndState> {
  let state: EndState | undefined;
  await eventually(async () => {
    assertSettled(await bed.plan());
    state = await endState(bed);
    assert.deepEqual(unsettled(state), [], "backends are on their way");
    await delay(REST_MS);
    assert.deepEqual(await endState(bed), state, "it still changes");
  }, SETTLED_WITHIN_MS);
  assert.ok(state !== undefined);
  return state;
}
