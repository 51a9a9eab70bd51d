/**
 * One namespace's storm does not delay another's Service: with 25 Services that never settle, under throttling, a new
 * Service of another namespace is served within three times its time without them. In virtual time.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import { measureFairness } from "../../sim/fairness/measure-fairness.ts";
import { STORMS } from "../../sim/fairness/storm.ts";

for (const storm of STORMS) {
  test(`a storm of ${storm} costs another namespace's Services at most three times their time`, async () => {
    const { meanRatio, slowestRatio } = await measureFairness(storm, 1);
    assert.ok(meanRatio <= 3, `mean: ${meanRatio} times as long`);
    assert.ok(slowestRatio <= 3, `slowest: ${slowestRatio} times as long`);
  });
}
