import assert from "node:assert/strict";
import { test } from "node:test";

import { doneEvent, unfinishedEvent } from "./driver-answers.ts";

test("events bear LBCF's names", () => {
  const NAMES = {
    createLoadBalancer: "CreateLoadBalancer",
    ensureLoadBalancer: "EnsureLoadBalancer",
    deleteLoadBalancer: "DeleteLoadBalancer",
    generateBackendAddr: "GenerateAddr",
    ensureBackend: "EnsureBackend",
    deregisterBackend: "Deregister",
  } as const;
  const STATUSES = [
    ["Running", "Running", "Normal"],
    ["Fail", "Failed", "Warning"],
    ["Error", "Failed", "Warning"],
    ["Invalid", "Invalid", "Warning"],
  ] as const;
  for (const verb of Object.keys(NAMES) as (keyof typeof NAMES)[]) {
    for (const [status, prefix, expected] of STATUSES) {
      const { type, reason, message } = unfinishedEvent(verb, { status, msg: "in its words" });
      assert.deepEqual([type, reason], [expected, `${prefix}${NAMES[verb]}`]);
      assert.match(message, /in its words/);
    }
    if (verb === "deleteLoadBalancer" || verb === "deregisterBackend") continue;
    assert.deepEqual(doneEvent(verb, "done"), { type: "Normal", reason: `Succ${NAMES[verb]}`, message: "done" });
  }
});
