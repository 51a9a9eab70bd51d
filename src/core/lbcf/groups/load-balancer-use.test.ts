import assert from "node:assert/strict";
import { test } from "node:test";

import { group } from "../../../../test/support/lbcf-objects.ts";
import { parametersKey, parametersOf } from "./load-balancer-use.ts";

test("parameters come back from their key, and from what is none comes nothing", () => {
  const owner = group("web", { parameters: { b: "2", a: "1" } });
  assert.deepEqual(parametersOf(parametersKey(owner)), { a: "1", b: "2" });
  for (const rubbish of ["", "null", "5", "[5]", '[["a"]]', '{"a":1}', "{"])
    assert.deepEqual(parametersOf(rubbish), {});
});
