/**
 * The shadow beside the incumbent, in the recordings of its rarer settings. States whose pools hold addresses are laid. Where they hold
 * network interfaces, which join pools by writes of their own, azlb's controller stands in for the incumbent: it comes to the
 * recorded states, with the differences of `long-tail.ts`. A restart with other settings starts another shadow.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { ScoredChange } from "../../../src/core/shadow/shadow-report.ts";
import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { IncumbentLeftOver } from "../../support/incumbent-left-over.ts";
import type { JsonObject } from "../../support/incumbent-states.ts";
import { isRefused, type LongTailDoing, type LongTailScenario, readLongTail } from "../../support/long-tail.ts";
import { LongTailRig } from "../../support/long-tail-rig.ts";
import { CLUSTERS_AT_ONCE, WITHIN_MS } from "../../support/service-rig.ts";
import { ShadowRig } from "../../support/shadow-rig.ts";
import { hasAddressPools, withdraw } from "./long-tail-take-over.ts";
import { acceptedBy, endStep } from "./long-tail.ts";
import { assertAgreement } from "./shadow.ts";

/** By scenario: the known differences that must be found. */
const EXPLAINED: Readonly<Record<string, readonly string[]>> = {
  "multi-annotation-several": ["nodes-join-at-once"],
  "multi-closed-later": ["nodes-join-at-once"],
  "multi-dual-stack": ["nodes-join-at-once"],
  "multi-label-added-later": ["labels-at-once"],
  "multi-label-selector": ["nodes-join-at-once"],
  "multi-move-blocked-by-sharer": ["moves-at-once"],
  "multi-namespace-selector": ["labels-at-once"],
  "multi-node-selector": ["labels-at-once", "nodes-join-at-once"],
  "multi-primary-set": ["nodes-join-at-once"],
  "multi-restart": ["nodes-join-at-once"],
  "multi-shared-address": ["nodes-join-at-once"],
  "multi-spread": ["nodes-join-at-once"],
};

export function longTailShadowSuite(name: string, open: ClusterOpener, scenarios = readLongTail()): void {
  describe(`the shadow in the long tail, on ${name}`, { concurrency: CLUSTERS_AT_ONCE }, () => {
    for (const scenario of scenarios.filter(({ steps }) => !steps.some(isBesideShadow))) {
      test(`${scenario.name}: as predicted`, async () => {
        const tail = await LongTailRig.open(open, scenario);
        try {
          const incumbent = hasAddressPools(scenario) ? await recordedStates(tail) : controllerOf(tail);
          assertAgreement(await scoresOf(tail, incumbent), EXPLAINED[scenario.name] ?? []);
        } finally {
          await tail.close();
        }
      });
    }
  });
}

/** A migration must be accepted by a flag, which a shadow has not; another client's load balancers pass for the incumbent's. */
function isBesideShadow({ do: { restart = {}, arm } }: LongTailScenario["steps"][number]): boolean {
  return acceptedBy(restart).acceptedChange !== undefined || arm?.[1].startsWith("loadBalancers/") === true;
}

/** What writes to Azure. */
interface Incumbent {
  readonly restart: (settings: JsonObject) => Promise<void>;
  /** Deletes the Service of the step, where it does. */
  readonly withdraw: (doing: LongTailDoing) => Promise<void>;
  /** Comes to the end of a step. */
  readonly settle: (step: LongTailScenario["steps"][number], at: number) => Promise<void>;
}

async function recordedStates(tail: LongTailRig): Promise<Incumbent> {
  await tail.rig.stop();
  const leftOver = new IncumbentLeftOver(tail.rig, tail);
  return {
    restart: async (settings) => tail.rig.reconfigure(settings),
    withdraw: (doing) => withdraw(tail, doing),
    settle: async ({ state }) => {
      if (state !== undefined) await leftOver.lay(state);
    },
  };
}

function controllerOf(tail: LongTailRig): Incumbent {
  return {
    restart: (settings) => tail.rig.restart(settings),
    withdraw: async () => {},
    settle: async ({ do: doing }, at) => {
      await endStep(tail, doing, isRefused(tail.scenario, at, doing));
      await eventually(async () => assert.deepEqual((await tail.rig.plan()).steps, []), WITHIN_MS);
    },
  };
}

async function scoresOf(tail: LongTailRig, incumbent: Incumbent): Promise<readonly ScoredChange[]> {
  const { rig, scenario } = tail;
  const scores: ScoredChange[] = [];
  let shadow = await ShadowRig.open(rig);
  try {
    for (const [at, step] of scenario.steps.entries()) {
      const { do: doing, state } = step;
      if (doing.restart !== undefined) {
        await incumbent.restart(doing.restart);
        await shadow.close();
        shadow = await ShadowRig.open(rig);
      }
      await tail.perform(doing);
      await incumbent.withdraw(doing);
      await shadow.predict();
      if (state === undefined) continue;
      const before = await rig.everything();
      await incumbent.settle(step, at);
      const isChanged = JSON.stringify(before) !== JSON.stringify(await rig.everything());
      const changes = await shadow.scored();
      scores.push(...changes);
      if (isChanged) assert.equal(changes.length, 1, JSON.stringify(doing));
    }
    return scores;
  } finally {
    await shadow.close();
  }
}
