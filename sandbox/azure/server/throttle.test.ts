import assert from "node:assert/strict";
import { test } from "node:test";

import { createThrottle, kindOfMethod, type ThrottleRequest } from "./throttle.ts";

const READ: ThrottleRequest = { principal: "p", subscription: "s", kind: "reads", networkRegion: undefined };

function setUp(enabled = true) {
  let now = 1_000_000;
  const throttle = createThrottle(() => now, enabled);
  return { throttle, pass: (ms: number) => (now += ms) };
}

function admitted(throttle: ReturnType<typeof createThrottle>, request: ThrottleRequest, tries: number): number {
  let count = 0;
  for (let i = 0; i < tries; i++) if (throttle.check(request).retryAfterSeconds === undefined) count++;
  return count;
}

test("a principal may read 250 at once and then 25 a second", () => {
  const { throttle, pass } = setUp();
  assert.equal(admitted(throttle, READ, 300), 250);
  pass(1000);
  assert.equal(admitted(throttle, READ, 300), 25);
});

test("writes and deletes have buckets of their own, 200 and 10 a second", () => {
  const { throttle, pass } = setUp();
  for (const kind of ["writes", "deletes"] as const) {
    assert.equal(admitted(throttle, { ...READ, kind }, 300), 200);
    pass(2000);
    assert.equal(admitted(throttle, { ...READ, kind }, 300), 20);
  }
});

test("a request before Retry-After ends is refused and restarts the wait", () => {
  const { throttle, pass } = setUp();
  admitted(throttle, READ, 251);
  pass(900); // tokens are back, but the wait of a second is not over
  assert.equal(throttle.check(READ).retryAfterSeconds, 1);
  pass(900);
  assert.equal(throttle.check(READ).retryAfterSeconds, 1);
  pass(1000);
  assert.equal(throttle.check(READ).retryAfterSeconds, undefined);
});

test("many principals share the subscription's bucket of fifteen times the size", () => {
  const { throttle } = setUp();
  let count = 0;
  for (let p = 0; p < 20; p++) count += admitted(throttle, { ...READ, principal: `p${p}` }, 250);
  assert.equal(count, 3750);
});

test("the network provider takes a thousand changes in five minutes and says when the window ends", () => {
  const { throttle, pass } = setUp();
  let count = 0;
  for (let second = 0; second < 120; second++) {
    count += admitted(throttle, { ...READ, kind: "writes", networkRegion: "westus2" }, 10);
    pass(1000);
  }
  assert.equal(count, 1000);
  const refused = throttle.check({ ...READ, kind: "writes", networkRegion: "westus2" }).retryAfterSeconds ?? 0;
  assert.ok(refused > 150 && refused <= 180, `${refused} s`);
  assert.equal(throttle.check({ ...READ, kind: "writes", networkRegion: "eastus" }).retryAfterSeconds, undefined);
});

test("headers tell what is left; off, they read like an idle subscription's", () => {
  const { throttle } = setUp();
  throttle.check(READ);
  assert.deepEqual(throttle.check(READ).headers, {
    "x-ms-ratelimit-remaining-subscription-reads": "248",
    "x-ms-ratelimit-remaining-subscription-global-reads": "3748",
  });
  const off = setUp(false).throttle;
  assert.equal(admitted(off, READ, 5000), 5000);
  assert.equal(
    off.check({ ...READ, kind: "writes" }).headers["x-ms-ratelimit-remaining-subscription-global-writes"],
    "2999",
  );
});

test("polls and HEAD are reads, DELETE has its own kind, the rest are writes", () => {
  assert.deepEqual(["GET", "HEAD", "DELETE", "PUT", "PATCH", "POST"].map(kindOfMethod), [
    "reads",
    "reads",
    "deletes",
    "writes",
    "writes",
    "writes",
  ]);
});
