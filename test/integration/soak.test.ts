/** What `npm run soak` shows and must hold on any machine; its bars on memory and lag depend on the machine. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { soak } from "../soak/soak.ts";
import { campaign } from "../support/campaign.ts";
import { seededRandom } from "../support/virtual-clock.ts";

const SIZE = campaign({ sample: { minutes: 0.3, services: 10 }, long: { minutes: 20, services: 30 } });

test("under load and faults of every kind it lives, comes to rest with everything right, and leaves nothing", async (context) => {
  const report = await soak({ ...SIZE, random: seededRandom(2017) });
  context.diagnostic(JSON.stringify(report));
  assert.deepEqual(report.problems, []);
  assert.ok(report.azure.hit > 0 && report.kubernetes.hit > 0, "faults were met");
});
