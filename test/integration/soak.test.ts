/** The short form of `npm run soak`: what must hold on whatever machine. Memory and lag are the long form's. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { soak } from "../soak/soak.ts";
import { seededRandom } from "../support/virtual-clock.ts";

test("under load and faults of every kind it lives, comes to rest with everything right, and leaves nothing", async (context) => {
  const report = await soak({ minutes: 0.3, services: 10, random: seededRandom(2017) });
  context.diagnostic(JSON.stringify(report));
  assert.deepEqual(report.problems, []);
  assert.ok(report.azure.hit > 0 && report.kubernetes.hit > 0, "faults were met");
});
