import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { ValidationResult } from "../../../core/lbcf/drivers/driver-answers.ts";
import { VirtualClock } from "../../../../test/support/virtual-clock.ts";
import { ValidationMemo } from "./validation-memo.ts";

describe("validations", () => {
  const question = { object: "uid lb", driver: "ns/driver", text: "a" };
  const setUp = (answer: ValidationResult) => {
    const clock = new VirtualClock();
    const memo = new ValidationMemo(clock);
    let asked = 0;
    const ask = (): Promise<ValidationResult> => {
      asked += 1;
      return Promise.resolve(answer);
    };
    return { clock, memo, ask, asked: () => asked };
  };
  const HOUR_MS = 3_600_000;

  test("that were valid are asked for once, until the question changes", async () => {
    const { clock, memo, ask, asked } = setUp({ kind: "valid" });
    for (let at = 0; at < 5; at++) {
      await memo.of(question, ask);
      await clock.advance(HOUR_MS);
    }
    assert.equal(asked(), 1);
    await memo.of({ ...question, text: "b" }, ask);
    await memo.of({ ...question, driver: "ns/other" }, ask);
    assert.equal(asked(), 3);
    memo.forget("uid ");
    await memo.of({ ...question, driver: "ns/other" }, ask);
    assert.equal(asked(), 4);
  });

  test("that were refused are asked for less and less often", async () => {
    const { clock, memo, ask, asked } = setUp({ kind: "refused", message: "no" });
    for (let minute = 0; minute < 60; minute++) {
      assert.equal((await memo.of(question, ask)).kind, "refused");
      await clock.advance(60_000);
    }
    assert.equal(asked(), 6); // after 0, 1, 3, 7, 15 and 31 minutes
    memo.driverUsable("ns/driver");
    await memo.of(question, ask);
    assert.equal(asked(), 6);
  });

  test("without an answer are repeated at once when the driver is healthy again", async () => {
    const { memo, ask, asked } = setUp({ kind: "failed", message: "no answer" });
    await memo.of(question, ask);
    await memo.of(question, ask);
    memo.driverUsable("ns/other");
    await memo.of(question, ask);
    assert.equal(asked(), 1);
    memo.driverUsable("ns/driver");
    await memo.of(question, ask);
    assert.equal(asked(), 2);
  });
});
