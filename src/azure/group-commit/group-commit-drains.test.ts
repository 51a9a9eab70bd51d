/** Drains in a group commit: whom they wait for, and whom not. How they overtake a whole is `drain-fast-path.test.ts`'s. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { commitRig, isPut, kinds, LB } from "../../../test/support/commit-rig.ts";
import { error } from "../../../test/support/memory-arm.ts";
import { findList, mergeList, wanted } from "../../../test/support/shared-list.ts";
import { settled } from "../../../test/support/virtual-clock.ts";
import { AZURE_LIMITS } from "../budget/limits.ts";
import { WriteKind } from "./write-kind.ts";

/** Leaves apart from what the rig submits. */
const OTHER = new WriteKind("other", mergeList);

test("a drain does not wait for others to gather", async () => {
  const { clock, submit, run } = commitRig({}, { gatherMs: 60_000 });
  void submit(wanted("a", 1));
  await settled();
  const outcome = await run(submit(wanted("draining", 1), LB, "drain"));
  assert.equal(outcome.kind, "written");
  assert.ok(clock.monotonicMs() < 1_000);
});

test("a drain leaves before those whose write has just ended go on", async () => {
  const { clock, arm, submit, run } = commitRig({ operationMs: 1_000 });
  const first = submit(wanted("a", 1)).then(() => arm.count("PUT"));
  await clock.advanceUntil(() => arm.count("PUT") === 1);
  clock.nextTurn = () => clock.sleep(1);
  const draining = submit(wanted("draining", 1), LB, "drain");
  assert.deepEqual(kinds([await run(draining)]), ["written"]);
  assert.equal(await first, 2);
});

test("a drain does not sit out the failures of others, only its own", async () => {
  const { clock, arm, submit, run, parts } = commitRig();
  arm.interpose = (request) => {
    if (!isPut(request) || request.body?.includes("draining")) return undefined;
    return { ...error(503, "ServiceUnavailable"), headers: { "retry-after": "600" } };
  };
  void submit(wanted("a", 1));
  await clock.advanceUntil(() => arm.count("PUT") === 1);
  await clock.advance(1_000);
  const outcome = await run(submit(wanted("draining", 1), LB, "drain"));
  assert.equal(outcome.kind, "written");
  assert.ok(clock.monotonicMs() < 2_000);
  assert.deepEqual(parts(), ["a-0 1", "draining-0 1"], "the others go along");
});

test("what waits for its turn in the budget gives way to a drain", async () => {
  const writes = { size: 100, perSecond: 1 };
  const limits = { ...AZURE_LIMITS, buckets: { ...AZURE_LIMITS.buckets, writes } };
  const { clock, client, arm, submit, run, parts } = commitRig({}, {}, { limits });
  for (let call = 0; call < 98; call++) await client.budgetOf(LB).enter("writes", "drain");
  void submit(wanted("a", 1));
  await clock.advance(500);
  assert.equal(arm.count("PUT"), 0, "it waits");
  const startMs = clock.monotonicMs();
  assert.equal((await run(submit(wanted("draining", 1), LB, "drain"))).kind, "written");
  assert.ok(clock.monotonicMs() - startMs < 500);
  assert.deepEqual(parts(), ["a-0 1", "draining-0 1"], "they leave together where they can");
});

test("what is still looking gives way to a drain", async () => {
  const { clock, arm, commit, submit, run } = commitRig();
  await run(submit(wanted("a", 1)));
  arm.interpose = async ({ method, signal }) => {
    if (method === "GET") await clock.sleep(60_000, signal);
    return undefined;
  };
  const looking = {
    id: LB,
    kind: OTHER,
    dedupKey: "b",
    fragment: wanted("b", 1),
    readFirst: true,
  } as const;
  const other = commit.submit({ ...looking, priority: "create" });
  await clock.advance(100);
  const startMs = clock.monotonicMs();
  assert.equal((await run(submit(wanted("draining", 1), LB, "drain"))).kind, "written");
  assert.ok(clock.monotonicMs() - startMs < 1_000);
  assert.equal((await run(other)).kind, "written");
});

test("a drain that an earlier process has written is not done before Azure is", async () => {
  const { clock, arm, known, submit, run } = commitRig();
  await run(submit(wanted("draining", 1)));
  const { properties, ...list } = findList(arm, LB) ?? assert.fail();
  const show = (provisioningState: string): void =>
    arm.write(LB, { ...list, properties: { ...properties, provisioningState } });
  show("Updating");
  known.clear();
  let isDone = false;
  const draining = submit(wanted("draining", 1), LB, "drain").finally(() => (isDone = true));
  await clock.advance(2_000);
  assert.equal(isDone, false);
  show("Succeeded");
  assert.equal((await run(draining)).kind, "unchanged");
});

test("drains that come before one has left leave with it, but cannot keep it for ever", async () => {
  const { clock, arm, submit, run, parts } = commitRig();
  await run(submit(wanted("a", 1)));
  let later = 0;
  clock.nextTurn = async () => {
    if (later < 3) void submit(wanted(`draining${++later}`, 1), LB, "drain");
  };
  assert.equal((await run(submit(wanted("draining", 1), LB, "drain"))).kind, "written");
  await clock.advanceUntil(() => parts().length === 5);
  const [, drain, ...rest] = arm.requests.filter(isPut);
  assert.deepEqual(drain?.body?.match(/draining\d?-0/g)?.sort(), ["draining-0", "draining1-0", "draining2-0"]);
  assert.equal(rest.length, 1);
});

test("an endless stream of drains does not keep others waiting for ever", async () => {
  const { clock, arm, commit, submit } = commitRig({ operationMs: 1_000 });
  let drains = 0;
  let isOver = false;
  const stream = (owner: string): void =>
    void submit(wanted(owner, ++drains), LB, "drain").then(() => isOver || stream(owner));
  stream("draining");
  await clock.advanceUntil(() => arm.count("PUT") === 1);
  stream("draining too");
  const service = { id: LB, kind: OTHER, dedupKey: "a", fragment: wanted("a", 1) } as const;
  void commit.submit({ ...service, priority: "create" }).then(() => (isOver = true));
  const waitedMs = await clock.advanceUntil(() => isOver, 300_000);
  assert.ok(waitedMs > 30_000 && waitedMs < 90_000, `it waited ${waitedMs} ms`);
});
