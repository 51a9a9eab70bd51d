/** The embedded server and a real kube-apiserver answer requests about field ownership alike, `managedFields` included. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";

import { answersOf, STEPS } from "../contract/kubernetes/apply-steps.ts";
import type { ClusterOpener } from "../support/cluster.ts";
import { openEmbeddedCluster } from "../support/embedded-cluster.ts";
import { openDualStackRealCluster } from "../support/real-cluster.ts";

type Answers = Awaited<ReturnType<typeof answersOf>>;

describe("field ownership on both servers", () => {
  let embedded: Answers;
  let real: Answers;

  before(async () => {
    [real, embedded] = await Promise.all([answers(openDualStackRealCluster), answers(openEmbeddedCluster)]);
  });

  for (const { title } of STEPS) test(title, () => assert.deepEqual(embedded.get(title), real.get(title)));
});

async function answers(open: ClusterOpener): Promise<Answers> {
  const cluster = await open();
  try {
    return await answersOf(cluster);
  } finally {
    await cluster.close();
  }
}
