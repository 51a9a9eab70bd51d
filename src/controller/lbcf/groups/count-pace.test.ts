import assert from "node:assert/strict";
import { test } from "node:test";

import { CountPace } from "./count-pace.ts";

test("soon after a while, then once a second", () => {
  let nowMs = 5_000;
  const pace = new CountPace({ monotonicMs: () => nowMs });
  assert.equal(pace.delayMs("a", 100), 100);
  pace.counted("a", true);
  assert.equal(pace.delayMs("a", 100), 1_000);
  assert.equal(pace.delayMs("b", 100), 100);
  nowMs += 300;
  assert.equal(pace.delayMs("a", 100), 700);
  nowMs += 650;
  assert.equal(pace.delayMs("a", 100), 100);
  pace.counted("a", true);
  pace.counted("a", false);
  assert.equal(pace.delayMs("a", 100), 100);
});
