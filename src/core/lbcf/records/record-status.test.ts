/** What a driver's answers leave on a record. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { record, registered } from "../../../../test/support/lbcf-objects.ts";
import { findCondition, isTrue } from "../objects/conditions.ts";
import { afterDeregister, afterEnsure, afterGenerate } from "./record-status.ts";

test("a backend that has moved says nothing more of the trouble it had in leaving its old address", () => {
  const moving = record(registered("10.0.0.1:80"));
  const failed = afterDeregister(moving, false, { status: "Fail", msg: "Azure is away" }, 0);
  assert.equal(findCondition(failed.status.conditions, "Deregistered")?.reason, "OperationFailed");
  const left = afterDeregister({ ...moving, status: failed.status }, false, { status: "Succ", msg: "" }, 1);
  const found = afterGenerate(
    { ...moving, status: left.status },
    "s",
    { status: "Succ", msg: "", backendAddr: "10.0.0.2:80" },
    2,
  );
  const there = afterEnsure({ ...moving, status: found.status }, { status: "Succ", msg: "", injectedInfo: {} }, 3);
  assert.equal(there.status.registeredAddr, "10.0.0.2:80");
  assert.ok(isTrue(there.status.conditions, "Registered"));
  assert.equal(findCondition(there.status.conditions, "Deregistered"), undefined);
});
