import assert from "node:assert/strict";
import { test } from "node:test";

import { parseTicks, withStolenShare } from "../../bench/support/stolen-time.ts";

test("stolen time is the eighth count of the first line; guests' time is in the first two already", () => {
  const stat = "cpu  100 10 50 800 5 1 4 30 60 6\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
  assert.deepEqual(parseTicks(stat), { stolen: 30, all: 1_000 });
});

test("a system that does not say is told from one that lost nothing", () => {
  assert.equal(parseTicks("cpu  100 10 50 800 5 1 4\n"), undefined);
  assert.equal(parseTicks(""), undefined);
});

test("the work's result comes through, with a share of at most all", async () => {
  const { result, stolenShare = 0 } = await withStolenShare(async () => "done");
  assert.equal(result, "done");
  assert.ok(stolenShare >= 0 && stolenShare <= 1);
});
