/** When an object is tried again, and when its user is told: for every kind of failure. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { ArmError, failureOfResponse } from "../../azure/arm/failures.ts";
import { nextAttempt } from "./next-attempt.ts";

/** Status, code, `Retry-After` → what follows the first failure, and the fourth: `after` (seconds, or backoff), `told`. */
const CASES: readonly (readonly [string, number, string, string, string])[] = [
  ["conflict", 412, "PreconditionFailed", "after 0", "backoff, told"],
  ["superseded", 409, "CanceledAndSupersededDueToAnotherOperation", "after 0", "backoff, told"],
  ["busy", 409, "AnotherOperationInProgress", "after 7", "after 7, told"],
  ["throttled", 429, "SubscriptionRequestsThrottled", "after 7, told", "after 7, told"],
  ["transient", 503, "ServiceUnavailable", "after 7, told", "after 7, told"],
  ["notProvisioned", 409, "ReferencedResourceNotProvisioned", "backoff", "backoff, told"],
  ["denied", 403, "AuthorizationFailed", "after 60, told", "after 60, told"],
  ["locked", 409, "ScopeLocked", "after 60, told", "after 60, told"],
  ["unauthenticated", 401, "ExpiredAuthenticationToken", "after 60, told", "after 60, told"],
  ["notFound", 404, "ResourceNotFound", "backoff, told", "backoff, told"],
  ["invalid", 400, "InvalidRequestFormat", "backoff, told", "backoff, told"],
  ["quota", 400, "PublicIPCountLimitReached", "backoff, told", "backoff, told"],
  ["inUse", 400, "PublicIPAddressCannotBeDeleted", "backoff, told", "backoff, told"],
];

function textOf(error: unknown, failuresBefore: number): string {
  const { afterMs, tellUser } = nextAttempt(error, failuresBefore);
  return `${afterMs === undefined ? "backoff" : `after ${afterMs / 1000}`}${tellUser ? ", told" : ""}`;
}

for (const [kind, status, code, first, fourth] of CASES) {
  test(`${kind}: ${first}; in the end ${fourth}`, () => {
    const body = JSON.stringify({ error: { code, message: "" } });
    const error = new ArmError(failureOfResponse({ status, headers: { "retry-after": "7" }, body }, 0), "writing");
    assert.equal(error.failure.kind, kind);
    assert.deepEqual([textOf(error, 0), textOf(error, 3)], [first, fourth]);
  });
}

test("a bug is told at once", () => assert.equal(textOf(new Error("x"), 0), "backoff, told"));
