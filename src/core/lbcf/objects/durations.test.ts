import assert from "node:assert/strict";
import { test } from "node:test";

import { parseDurationMs } from "./durations.ts";

test("durations as Go has them", () => {
  const TABLE: readonly (readonly [string, number | undefined])[] = [
    ["15s", 15_000],
    ["1m30s", 90_000],
    ["1.5h", 5_400_000],
    ["250ms", 250],
    ["", undefined],
    ["10", undefined],
    ["s", undefined],
    ["1m x", undefined],
  ];
  for (const [text, ms] of TABLE) assert.equal(parseDurationMs(text), ms, text);
});
