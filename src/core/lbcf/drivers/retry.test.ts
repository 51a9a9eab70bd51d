import assert from "node:assert/strict";
import { test } from "node:test";

import { LBCF_RETRIES, retryDelayMs } from "./retry.ts";

test("retries are LBCF's", () => {
  const delay = (status: "Fail" | "Error" | "Running", failures: number, retryAfterMs?: number): number =>
    retryDelayMs({ status, msg: "", ...(retryAfterMs !== undefined && { retryAfterMs }) }, failures, LBCF_RETRIES);
  assert.deepEqual(
    [0, 1, 2, 3, 4, 9].map((failures) => delay("Fail", failures)),
    [10_000, 20_000, 40_000, 80_000, 120_000, 120_000],
  );
  assert.equal(delay("Fail", 0, 300_000), 300_000);
  assert.equal(delay("Running", 5), 10_000);
  assert.equal(delay("Running", 5, 2_000), 2_000);
  for (const status of ["Running", "Fail"] as const) assert.equal(delay(status, 0, 2 ** 31 * 1_000), 3_600_000);
});
