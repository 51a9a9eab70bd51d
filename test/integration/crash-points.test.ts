/** A fixed sample of the crash matrix; `npm run crash-matrix` is all of it. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { crashScenario } from "../crash/crash-matrix.ts";
import { renderPoint, type CrashPoint } from "../crash/crash-points.ts";
import { SCENARIOS } from "../crash/scenarios/all.ts";

/** Where most is at stake: something of Azure's stands and Kubernetes does not say so yet, or the other way round. */
const SAMPLE: Readonly<Record<string, readonly string[]>> = {
  "create external": ["after write 1 to Services", "after write 1 to Azure", "before write 3 to Azure"],
  "flip to internal": ["after write 1 to Azure", "before write 2 to Azure", "after write 3 to Azure"],
  delete: ["after write 1 to Azure", "before write 2 to Azure", "before write 1 to Services"],
};

for (const [name, points] of Object.entries(SAMPLE)) {
  test(`${name}: killed at any of ${points.length} writes, it comes to the same end`, async () => {
    const scenario = SCENARIOS.find((one) => one.name === name);
    assert.ok(scenario !== undefined);
    const choose = (all: readonly CrashPoint[]): CrashPoint[] =>
      all.filter((point) => points.includes(renderPoint(point)));
    const { crashPoints, survived, failures } = await crashScenario(scenario, { jobs: 2, choose });
    assert.deepEqual(failures, []);
    assert.deepEqual({ crashPoints, survived }, { crashPoints: points.length, survived: points.length });
  });
}
