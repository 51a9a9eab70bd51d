import assert from "node:assert/strict";
import { test } from "node:test";

import { BACKOFF, type FailureKind, MOST, readAgainMs, RETRY, type RetryRule } from "./retry.ts";

const rules = Object.entries<RetryRule>(RETRY);
const kindsWith = (isOne: (rule: RetryRule) => boolean): string[] =>
  rules.flatMap(([kind, rule]) => (isOne(rule) ? [kind] : [])).sort();

test("what passes by itself is tried again wherever it is met; the user is told at first, unless writers have met", () => {
  const passing: readonly FailureKind[] = ["busy", "throttled", "transient"];
  const again = kindsWith(({ lane, read, poll, requeue }) =>
    [lane === "failure", read !== "fail", poll === "again", requeue === "asTold"].every(Boolean),
  );
  assert.deepEqual(again, passing);
  assert.deepEqual(
    kindsWith(({ tell }) => tell === "later"),
    ["busy", "conflict", "notProvisioned", "superseded"],
  );
});

test("what a person must mend is never tried again in a lane, at a read or at a poll", () => {
  for (const [kind, { lane, read, poll, requeue, tell }] of rules) {
    if (tell !== "now" || requeue === "asTold") continue;
    assert.ok(!["conflict", "failure", "repair"].includes(lane), kind);
    assert.deepEqual([read, poll === "again"], ["fail", false], kind);
  }
});

test("a read waits longer each time, up to its cap", () => {
  const waits = Array.from({ length: MOST.polls + 1 }, (_, tries) => readAgainMs(tries));
  assert.deepEqual(waits.slice(0, 3), [250, 375, 562.5]);
  assert.equal(waits.at(-1), BACKOFF.read.capMs);
});
