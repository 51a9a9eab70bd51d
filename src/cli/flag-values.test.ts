import assert from "node:assert/strict";
import { test } from "node:test";

import { parseFlagBoolean, parseFlagDurationMs, parseFlagNumber } from "./flag-values.ts";

test("durations are read as Go writes them", () => {
  assert.equal(parseFlagDurationMs("--x", "15s"), 15_000);
  assert.equal(parseFlagDurationMs("--x", "1m30s"), 90_000);
  assert.equal(parseFlagDurationMs("--x", "1.5h"), 5_400_000);
  assert.equal(parseFlagDurationMs("--x", "0"), 0);
});

test("a wrong value names the flag, the value and what is allowed", () => {
  assert.throws(() => parseFlagDurationMs("--lease", "15"), /--lease is "15"; it takes a duration/);
  assert.throws(() => parseFlagBoolean("--leader-elect", "maybe"), /--leader-elect is "maybe"; it takes true or false/);
  assert.throws(() => parseFlagNumber("--n", "0", 1, 9), /--n is "0"; it takes a whole number from 1 to 9/);
});

test("booleans are read in every spelling that Go takes", () => {
  for (const yes of [true, "true", "True", "t", "1"]) assert.equal(parseFlagBoolean("--x", yes), true);
  for (const no of [false, "false", "F", "0"]) assert.equal(parseFlagBoolean("--x", no), false);
});
