/**
 * The crash matrix: three points in `npm test`, a larger sample in `.ci/run`, all of it in `npm run test:long`, as in
 * `npm run crash-matrix`.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { crashScenario } from "../crash/crash-matrix.ts";
import { renderPoint, type CrashPoint } from "../crash/crash-points.ts";
import { SCENARIOS } from "../crash/scenarios/all.ts";
import { campaign } from "../support/campaign.ts";

/** By scenario. */
type Points = Readonly<Record<string, readonly string[]>>;

/** Where most is at stake: something of Azure's stands and Kubernetes does not say so yet, or the other way round. */
const SAMPLE: Points = {
  "create external": ["after write 1 to Services", "after write 1 to Azure", "before write 3 to Azure"],
  "flip to internal": ["after write 1 to Azure", "after write 3 to Azure"],
  "leave a shared address, its owner first": ["after write 1 to Azure"],
  delete: ["after write 1 to Azure", "before write 1 to Services"],
  "a node's eviction is announced": ["after write 1 to Nodes"],
  "uniform scale set: create external": ["after write 4 to Azure"],
  "dual stack: create": ["after write 2 to Azure"],
  "migration: network interfaces to addresses": ["after write 3 to Azure"],
  "private link service: delete, with a connection": ["after write 1 to Azure", "after write 2 to Azure"],
  "LBCF: a pod gets another address": ["after write 1 to Azure", "after write 2 to LBCF"],
};

/** One of a Service that changes, of a node and of a pod. */
const SMALL_SAMPLE: Points = {
  "flip to internal": ["after write 3 to Azure"],
  "a node's eviction is announced": ["after write 1 to Nodes"],
  "LBCF: a pod gets another address": ["after write 2 to LBCF"],
};

/** Each of them is reached, however busy the machine. */
const REACHED_WITHIN_MS = 120_000;

/** Each has servers and controllers of its own, and waits for them to come to rest. */
const SCENARIOS_AT_ONCE = 4;

describe("killed, it comes to the same end", { concurrency: SCENARIOS_AT_ONCE }, () => {
  const declareSmallSample = (): void => declareSample(SMALL_SAMPLE);
  campaign({ sample: declareSmallSample, ci: () => declareSample(SAMPLE), long: declareAll })();
});

function declareSample(sample: Points): void {
  for (const [name, points] of Object.entries(sample)) {
    test(`${name}: ${points.join(", ")}`, async () => {
      const scenario = SCENARIOS.find((one) => one.name === name);
      assert.ok(scenario !== undefined);
      const choose = (all: readonly CrashPoint[]): CrashPoint[] =>
        all.filter((point) => points.includes(renderPoint(point)));
      const options = { jobs: 1, choose, reachedWithinMs: REACHED_WITHIN_MS };
      const { crashPoints, survived, failures } = await crashScenario(scenario, options);
      assert.deepEqual(failures, []);
      assert.deepEqual({ crashPoints, survived }, { crashPoints: points.length, survived: points.length });
    });
  }
}

function declareAll(): void {
  for (const scenario of SCENARIOS) {
    test(`${scenario.name}: before and after every write`, async () => {
      const { crashPoints, failures } = await crashScenario(scenario, { jobs: 1 });
      assert.deepEqual(failures, []);
      assert.ok(crashPoints > 0, "the scenario makes the controller write");
    });
  }
}
