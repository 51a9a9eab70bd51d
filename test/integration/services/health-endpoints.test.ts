/** What the health endpoints of two controllers answer: both pass a readiness probe on /startz, /readyz tells the leader. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { RunningController } from "../../../src/main/controller.ts";
import { openEmbeddedCluster } from "../../support/embedded-cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { leaveLease } from "../../support/released-lease.ts";
import { ServiceRig, WITHIN_MS } from "../../support/service-rig.ts";

test("leader and standby have both started, and only the leader is ready", async () => {
  const rig = await ServiceRig.open(openEmbeddedCluster, {
    controller: { leaderElect: true },
    prepare: ({ kube }) => leaveLease(kube),
  });
  try {
    await rig.stop();
    const leader = await rig.start();
    await answers(leader, { healthz: 200, startz: 200, readyz: 200 });
    const standby = await rig.start();
    await answers(standby, { healthz: 200, startz: 200, readyz: 503 });
    await leader.close();
    await answers(standby, { healthz: 200, startz: 200, readyz: 200 });
  } finally {
    await rig.close();
  }
});

function answers({ metricsUrl }: RunningController, expected: Readonly<Record<string, number>>): Promise<void> {
  return eventually(async () => {
    const found: Record<string, number> = {};
    for (const path of Object.keys(expected)) {
      found[path] = (await fetch(metricsUrl.replace(/metrics$/, path))).status;
    }
    assert.deepEqual(found, expected);
  }, WITHIN_MS);
}
