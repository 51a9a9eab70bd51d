/** What a group commit does about writes that are known to come: those that wait are held back for them, and not for long. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { commitRig, isPut, kinds, LB, owners } from "../../../test/support/commit-rig.ts";
import { LIST, wanted } from "../../../test/support/shared-list.ts";

const OPERATION_MS = 1_000;

/** Writes that come evenly over that time, all known from the start. How many PUTs, and when the last was settled. */
async function spread(overMs: number, isExpected: boolean): Promise<{ puts: number; totalMs: number }> {
  const { clock, arm, commit, submit, run } = commitRig({ operationMs: OPERATION_MS });
  await run(submit(wanted("first", 1)));
  const before = arm.requests.filter(isPut).length;
  const startMs = clock.monotonicMs();
  const all = owners(200);
  if (isExpected) for (const owner of all) commit.expect(owner, [LB]);
  const outcomes = all.map(async (owner, at) => {
    await clock.sleep((overMs * at) / all.length);
    return submit(wanted(owner, 1));
  });
  assert.ok(kinds(await run(Promise.all(outcomes))).every((kind) => kind === "written"));
  return { puts: arm.requests.filter(isPut).length - before, totalMs: clock.monotonicMs() - startMs };
}

for (const overMs of [500, 2_000, 8_000]) {
  test(`200 that come over ${overMs} ms leave in fewer writes, and hardly later, if they are known to come`, async () => {
    const known = await spread(overMs, true);
    const unknown = await spread(overMs, false);
    assert.ok(known.puts <= Math.max(2, unknown.puts * 0.75), `${known.puts} writes, else ${unknown.puts}`);
    assert.ok(known.totalMs <= unknown.totalMs + OPERATION_MS, `${known.totalMs} ms, else ${unknown.totalMs}`);
  });
}

test("what waits leaves as soon as no more is known to come", async () => {
  const { clock, arm, commit, submit, run } = commitRig();
  for (const owner of owners(3)) commit.expect(owner, [LB]);
  const first = submit(wanted("o0", 1));
  await clock.advance(100);
  assert.deepEqual(arm.requests, [], "two more are to come");
  commit.expect("o1", []);
  await clock.advance(20);
  assert.notDeepEqual(arm.requests, [], "one waits, one is to come");
  commit.expect("o2", []);
  assert.equal((await run(first)).kind, "written");
});

test("what is known to come and does not come holds a write back for a moment only", async () => {
  const { clock, arm, commit, submit, run } = commitRig();
  for (const owner of owners(50)) commit.expect(owner, [LB.toUpperCase()]);
  const first = submit(wanted("o0", 1));
  await clock.advance(400);
  assert.equal(arm.count("PUT"), 1);
  assert.equal((await run(first)).kind, "written");
});

test("a drain waits for nothing that is to come, nor does what is to be deleted", async () => {
  const { clock, arm, commit, submit } = commitRig();
  const other = `${LB}2`;
  for (const owner of owners(50)) commit.expect(owner, [LB, other]);
  void submit(wanted("o0", 1));
  await clock.advance(50);
  assert.deepEqual(arm.requests, []);
  void submit(wanted("draining", 1), LB, "drain");
  await clock.advance(20);
  assert.equal(arm.requests.length, 1);
  void commit.submit({ id: other, kind: LIST, dedupKey: "gone", fragment: wanted("gone", 1), priority: "delete" });
  await clock.advance(20);
  assert.equal(arm.requests.length, 2);
});
