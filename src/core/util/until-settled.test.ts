import assert from "node:assert/strict";
import { test } from "node:test";

import { UnsettledError, untilSettled } from "./until-settled.ts";

test("rounds follow each other until one has a result, which is the loop's", async () => {
  let rounds = 0;
  const result = await untilSettled("pools", async () => (++rounds < 5 ? undefined : "settled"));
  assert.deepEqual([result, rounds], ["settled", 5]);
});

test("a round that fails ends the loop with its error", async () => {
  const error = new Error("no answer");
  await assert.rejects(
    untilSettled("pools", () => Promise.reject(error)),
    error,
  );
});

test("rounds without end are an error that names the subject, never a result", async () => {
  let rounds = 0;
  const endless = async (): Promise<undefined> => void (rounds += 1);
  await assert.rejects(
    untilSettled("Service web", endless, 7),
    new UnsettledError("Service web did not settle after 7 rounds"),
  );
  assert.equal(rounds, 7);
});
