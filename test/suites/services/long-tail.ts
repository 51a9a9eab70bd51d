/**
 * The recordings of the incumbent's rarer settings, end to end: at every step Azure comes to the recorded state, and
 * nothing is left to do. The differences are defects of the incumbent, and stand in docs/differences.md.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { ClusterOpener } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { differences, type JsonObject } from "../../support/incumbent-states.ts";
import { isRefused, type LongTailDoing, readLongTail, unexplained } from "../../support/long-tail.ts";
import { LongTailRig } from "../../support/long-tail-rig.ts";
import { CLUSTERS_AT_ONCE, WITHIN_MS } from "../../support/service-rig.ts";

export function longTailSuite(name: string, open: ClusterOpener, scenarios = readLongTail()): void {
  describe(`the incumbent's long tail, on ${name}`, { concurrency: CLUSTERS_AT_ONCE }, () => {
    for (const scenario of scenarios) {
      test(`${scenario.name}: the same state at every step`, async () => {
        const tail = await LongTailRig.open(open, scenario);
        try {
          for (const [at, { do: doing, expected }] of scenario.steps.entries()) {
            if (doing.restart !== undefined) await tail.rig.restart(doing.restart, acceptedBy(doing.restart));
            await tail.perform(doing);
            await endStep(tail, doing, isRefused(scenario, at, doing));
            if (expected === undefined) continue;
            await eventually(async () => {
              const { steps } = await tail.rig.plan();
              assert.deepEqual(steps, [], `step ${at}`);
              const found = unexplained(scenario.name, at, differences(expected, await tail.state()));
              assert.deepEqual(found, [], `step ${at}`);
            }, WITHIN_MS);
          }
        } finally {
          await tail.close();
        }
      });
    }
  });
}

/** Waits until the Service of the step is served, refused or gone. */
export async function endStep(tail: LongTailRig, doing: LongTailDoing, refused: boolean): Promise<void> {
  const name = tail.touched(doing);
  if (name === undefined) return;
  if (doing.delete !== undefined) {
    await tail.rig.delete(name);
    tail.forget(name);
  } else if (refused) await tail.rig.refused(name);
  else await tail.rig.served(name);
}

/** The incumbent migrates pools unasked. */
export function acceptedBy(restart: JsonObject): { readonly acceptedChange?: "pool-type" } {
  return "loadBalancerBackendPoolConfigurationType" in restart ? { acceptedChange: "pool-type" } : {};
}
