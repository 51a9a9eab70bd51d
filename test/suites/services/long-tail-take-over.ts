/**
 * The controller started where the incumbent has been, in the recordings of its rarer settings. It takes every Service
 * over and writes nothing to Azure, except for what the incumbent left wrong. Only states whose pools hold addresses are
 * laid: network interfaces join pools by writes of their own.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { ClusterOpener } from "../../support/cluster.ts";
import { IncumbentLeftOver } from "../../support/incumbent-left-over.ts";
import { isLeftWrong, type LongTailDoing, type LongTailScenario, readLongTail } from "../../support/long-tail.ts";
import { LongTailRig } from "../../support/long-tail-rig.ts";
import { CLUSTERS_AT_ONCE } from "../../support/service-rig.ts";
import { isTakenOver, writesToAzure } from "./take-over.ts";

export function longTailTakeOverSuite(name: string, open: ClusterOpener, scenarios = readLongTail()): void {
  describe(`taking the long tail over, on ${name}`, { concurrency: CLUSTERS_AT_ONCE }, () => {
    for (const scenario of scenarios.filter(hasAddressPools)) {
      test(`${scenario.name}: not a single write to Azure`, async () => {
        const tail = await LongTailRig.open(open, scenario);
        try {
          await tail.rig.stop();
          await takeOverEachStep(tail);
        } finally {
          await tail.close();
        }
      });
    }
  });
}

export function hasAddressPools({ azureJson, steps }: LongTailScenario): boolean {
  const settings = [azureJson, ...steps.map(({ do: doing }) => doing.restart ?? {})];
  return settings.every((one) => one["loadBalancerBackendPoolConfigurationType"] !== "nodeIPConfiguration");
}

async function takeOverEachStep(tail: LongTailRig): Promise<void> {
  const { rig, scenario } = tail;
  const leftOver = new IncumbentLeftOver(rig, tail);
  for (const [at, { do: doing, state }] of scenario.steps.entries()) {
    if (doing.restart !== undefined) rig.reconfigure(doing.restart);
    await tail.perform(doing);
    await withdraw(tail, doing);
    if (state === undefined) continue;
    await leftOver.lay(state);
    if (isLeftWrong(scenario.name, at)) continue;
    const before = await rig.everything();
    const { steps } = await rig.plan();
    assert.deepEqual(steps, [], `step ${at}`);
    await rig.azure.control("DELETE", "/audit");
    await rig.start();
    for (const service of tail.alive.difference(tail.refused)) await isTakenOver(rig, service, undefined);
    await rig.stop();
    assert.deepEqual(await writesToAzure(rig), [], `step ${at}`);
    assert.deepEqual(await rig.everything(), before, `step ${at}`);
  }
}

/** Deletes the Service of the step, as the incumbent has let it go. */
export async function withdraw(tail: LongTailRig, doing: LongTailDoing): Promise<void> {
  const name = tail.touched(doing);
  if (name === undefined || doing.delete === undefined) return;
  await tail.rig.patch(name, { metadata: { finalizers: null } });
  await tail.rig.delete(name);
  tail.forget(name);
}
