/** Drains in a group commit: whom they wait for, and whom not. How they overtake a whole is `overtaking.test.ts`'s. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { commitRig, isPut, kinds, LB } from "../../test/support/commit-rig.ts";
import { error } from "../../test/support/memory-arm.ts";
import { wish } from "../../test/support/shared-list.ts";
import { settled } from "../../test/support/virtual-clock.ts";

test("a drain does not wait for others to gather", async () => {
  const { clock, submit, run } = commitRig({}, { gatherMs: 60_000 });
  void submit(wish("a", 1));
  await settled();
  const outcome = await run(submit(wish("doomed", 1), LB, "drain"));
  assert.equal(outcome.kind, "written");
  assert.ok(clock.monotonicMs() < 1_000);
});

test("a drain leaves before those whose write has just ended go on", async () => {
  const { clock, arm, submit, run } = commitRig({ operationMs: 1_000 });
  clock.nextTurn = settled;
  const first = submit(wish("a", 1)).then(() => arm.count("PUT"));
  await clock.advanceUntil(() => arm.count("PUT") === 1);
  const doomed = submit(wish("doomed", 1), LB, "drain");
  assert.deepEqual(kinds([await run(doomed)]), ["written"]);
  assert.equal(await first, 2);
});

test("a drain does not sit out the failures of others, only its own", async () => {
  const { clock, arm, submit, run, parts } = commitRig();
  arm.interpose = (request) => {
    if (!isPut(request) || request.body?.includes("doomed")) return undefined;
    return { ...error(503, "ServiceUnavailable"), headers: { "retry-after": "600" } };
  };
  void submit(wish("a", 1));
  await clock.advanceUntil(() => arm.count("PUT") === 1);
  await clock.advance(1_000);
  const outcome = await run(submit(wish("doomed", 1), LB, "drain"));
  assert.equal(outcome.kind, "written");
  assert.ok(clock.monotonicMs() < 2_000);
  assert.deepEqual(parts(), ["a-0 1", "doomed-0 1"], "the others go along");
});
