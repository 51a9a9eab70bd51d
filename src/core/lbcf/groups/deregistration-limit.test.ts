import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { meta } from "../../../../test/support/lbcf-objects.ts";
import {
  deregistrationLimitMistake,
  deregistrationLimitOf,
  DEFAULT_DEREGISTRATION_LIMIT,
  mustConfirm,
} from "./deregistration-limit.ts";

describe("the deregistration limit", () => {
  const annotated = (text: string) => meta("web", { annotations: { "lbcf.tkestack.io/brake": text } });

  test("is the group's own where it says so", () => {
    assert.equal(deregistrationLimitOf(annotated("30%"), DEFAULT_DEREGISTRATION_LIMIT).share, 0.3);
    assert.equal(deregistrationLimitOf(annotated(" 0% "), DEFAULT_DEREGISTRATION_LIMIT).share, 0);
    assert.ok(!mustConfirm(1_000, 1_000, deregistrationLimitOf(annotated("off"), DEFAULT_DEREGISTRATION_LIMIT)));
    for (const text of ["", "30%", "off"]) assert.equal(deregistrationLimitMistake(annotated(text)), undefined);
  });

  test("a value that makes no sense changes nothing, and is said", () => {
    for (const text of ["lots", "101%", "-1%", "30", "3e1%", "%"]) {
      assert.equal(deregistrationLimitOf(annotated(text), DEFAULT_DEREGISTRATION_LIMIT), DEFAULT_DEREGISTRATION_LIMIT);
      assert.match(deregistrationLimitMistake(annotated(text)) ?? "", /write a share such as 30%, or off/);
    }
  });
});
