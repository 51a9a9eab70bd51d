/**
 * An unmodified kubectl takes the same tour of the embedded server and of a real kube-apiserver, and is told the
 * same: each step's exit code and output, but for identities, versions and times.
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import type { ClusterOpener } from "../support/cluster.ts";
import { controlPlaneBinaries } from "../support/control-plane-binaries.ts";
import { openEmbeddedCluster } from "../support/embedded-cluster.ts";
import { openRealCluster } from "../support/real-cluster.ts";
import { TOUR } from "./tour/steps.ts";
import { type Outcome, walk } from "./tour/walk.ts";

describe("kubectl's tour", () => {
  let embedded: ReadonlyMap<string, Outcome>;
  let real: ReadonlyMap<string, Outcome>;

  before(async () => {
    [real, embedded] = await Promise.all([tourOf(openRealCluster), tourOf(openEmbeddedCluster)]);
  });

  for (const { title, code = 0 } of TOUR) {
    test(title, () => {
      assert.equal(real.get(title)?.code, code, `on kube-apiserver: ${real.get(title)?.said}`);
      assert.equal(embedded.get(title)?.said, real.get(title)?.said, "the embedded server says otherwise");
      assert.equal(embedded.get(title)?.code, code);
    });
  }
});

async function tourOf(open: ClusterOpener): Promise<ReadonlyMap<string, Outcome>> {
  const { kubectl } = await controlPlaneBinaries(() => undefined);
  const cluster = await open();
  try {
    return await walk(TOUR, cluster, kubectl);
  } finally {
    await cluster.close();
  }
}
