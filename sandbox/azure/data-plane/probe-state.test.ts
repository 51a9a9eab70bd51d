import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "../../../test/support/laws.ts";
import { afterProbe, NOT_PROBED, type Health } from "./probe-state.ts";

function believed(results: readonly boolean[], threshold: number): Health {
  return results.reduce((state, result) => afterProbe(state, result, threshold), NOT_PROBED).health;
}

const TABLE: readonly [results: string, threshold: number, health: Health][] = [
  ["", 2, "unknown"],
  ["+", 2, "up"],
  ["-", 2, "down"],
  ["+-", 1, "down"],
  ["+-", 2, "up"],
  ["+--", 2, "down"],
  ["+-+-", 2, "up"],
  ["-+", 2, "down"],
  ["-++", 2, "up"],
];

for (const [results, threshold, health] of TABLE) {
  test(`probes ${results || "none"} with threshold ${threshold}: ${health}`, () => {
    assert.equal(
      believed(
        results.split("").map((result) => result === "+"),
        threshold,
      ),
      health,
    );
  });
}

test("as many equal results as the threshold always decide", () => {
  fc.assert(
    fc.property(fc.array(fc.boolean()), fc.integer({ min: 1, max: 5 }), fc.boolean(), (before, threshold, result) => {
      const last = Array.from({ length: threshold }, () => result);
      assert.equal(believed([...before, ...last], threshold), result ? "up" : "down");
    }),
  );
});
