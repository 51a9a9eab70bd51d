import assert from "node:assert/strict";
import { test } from "node:test";

import { outcomeOf, type Outcome, type Progress } from "./settling.ts";

const PATIENCE = { stillMs: 100, untouchedMs: 500, longestMs: 2_000 };
const OPEN: Progress = {
  nowMs: 1_000,
  openSinceMs: 1_000,
  changedAtMs: 1_000,
  predictedAtMs: 1_000,
  isBusy: false,
  isUntouched: false,
  isAsPredicted: false,
};

const CASES: readonly (readonly [what: string, change: Partial<Progress>, outcome: Outcome])[] = [
  ["nothing is open", { openSinceMs: undefined }, "idle"],
  ["as predicted", { isAsPredicted: true }, "agreed"],
  ["as predicted, while an operation runs", { isAsPredicted: true, isBusy: true }, "waiting"],
  ["another state, just seen", {}, "waiting"],
  ["another state, not still for long enough", { nowMs: 1_099 }, "waiting"],
  ["another state, still", { nowMs: 1_100 }, "differs"],
  ["still, but the prediction is new", { nowMs: 1_100, predictedAtMs: 1_050 }, "waiting"],
  ["still, while an operation runs", { nowMs: 1_100, isBusy: true }, "waiting"],
  ["the incumbent has not begun", { nowMs: 1_499, isUntouched: true }, "waiting"],
  ["the incumbent does not begin", { nowMs: 1_500, isUntouched: true }, "differs"],
  ["never still", { nowMs: 3_000, changedAtMs: 2_990 }, "unsettled"],
];

for (const [what, change, outcome] of CASES) {
  test(`${what}: ${outcome}`, () => assert.equal(outcomeOf({ ...OPEN, ...change }, PATIENCE), outcome));
}
