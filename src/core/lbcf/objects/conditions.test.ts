import assert from "node:assert/strict";
import { test } from "node:test";

import { withCondition } from "./conditions.ts";

test("a condition moves its time only with its status, and is itself where nothing is new", () => {
  const first = withCondition([], { type: "A", status: "False", reason: "x" }, 0);
  const later = withCondition(first, { type: "A", status: "False", reason: "y" }, 60_000);
  assert.equal(later[0]?.lastTransitionTime, first[0]?.lastTransitionTime);
  assert.equal(withCondition(later, { type: "A", status: "False", reason: "y" }, 90_000), later);
  assert.notEqual(
    withCondition(later, { type: "A", status: "True" }, 90_000)[0]?.lastTransitionTime,
    later[0]?.lastTransitionTime,
  );
});
