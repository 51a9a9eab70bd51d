/** What the callers of a write learn of its retries, which other writes those hold up, and how a write is withdrawn. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { commitRig, isPut, LB } from "../../../test/support/commit-rig.ts";
import { error, json } from "../../../test/support/memory-arm.ts";
import { LIST, wanted } from "../../../test/support/shared-list.ts";
import { answersOf, type Merged } from "../../core/outcome.ts";
import { field } from "../arm/response-body.ts";
import type { ArmBody, Committed, Retry } from "./commit-types.ts";
import { WriteKind } from "./write-kind.ts";

const POOLS = ["kubernetes", "kubernetes-IPv6"];

/** A load balancer with two pools; `isFailing` tells which of them answer 500 when written. */
function poolRig(isFailing: (pool: string) => boolean) {
  const { clock, arm, commit, run } = commitRig();
  arm.write(LB, { properties: { backendAddressPools: POOLS.map((name) => ({ name })) } });
  const puts: string[] = [];
  arm.interpose = (request) => {
    const pool = new URL(request.url).pathname.split("/backendAddressPools/")[1];
    if (pool === undefined || !isPut(request)) return undefined;
    puts.push(pool);
    if (isFailing(pool)) return error(500, "InternalServerError");
    const whole = arm.read(LB);
    const pools = field(whole?.["properties"], "backendAddressPools") as readonly { readonly name: string }[];
    const written = pools.map((each) => (each.name === pool ? { name: pool, properties: { isDown: true } } : each));
    arm.write(LB, { ...whole, properties: { backendAddressPools: written } });
    return json(200, {});
  };
  const merge = (seen: ArmBody | undefined, fragments: readonly undefined[]): Merged<ArmBody> => {
    const isDown = field(seen?.properties, "isDown") === true;
    const body = { properties: { isDown: true } };
    return { outcome: isDown ? { kind: "unchanged" } : { kind: "put", body }, answers: answersOf(fragments) };
  };
  const kind = new WriteKind("adminState", merge);
  const drain = (pool: string): Promise<Committed<ArmBody>> =>
    commit.submit({ id: `${LB}/backendAddressPools/${pool}`, kind, fragment: undefined, priority: "drain" });
  return { clock, run, puts, drain };
}

test("each failed attempt is reported at once, with its failure and when the next one is", async () => {
  const { clock, arm, commit, run } = commitRig();
  arm.interpose = (request) => (isPut(request) && arm.count("PUT") < 3 ? error(500, "InternalServerError") : undefined);
  const retries: (Retry & { readonly atMs: number })[] = [];
  const onRetry = (retry: Retry): void => void retries.push({ ...retry, atMs: clock.monotonicMs() });
  const write = { id: LB, kind: LIST, fragment: wanted("a", 1), priority: "create", onRetry } as const;
  const outcome = commit.submit(write);
  await clock.advanceUntil(() => arm.count("PUT") === 1);
  await clock.advance(100);
  assert.deepEqual(
    retries.map(({ failure, attempts }) => [failure.code, attempts]),
    [["InternalServerError", 1]],
  );
  const [first] = retries;
  await clock.advanceUntil(() => arm.count("PUT") === 2);
  const readMs = 100;
  assert.equal(clock.monotonicMs(), (first?.atMs ?? 0) + (first?.afterMs ?? 0) + readMs);
  assert.equal((await run(outcome)).kind, "written");
  assert.deepEqual(
    retries.map(({ attempts }) => attempts),
    [1, 2],
  );
});

test("the drain of a pool does not wait for the retries of another pool's", async () => {
  const { clock, run, puts, drain } = poolRig((pool) => pool === "kubernetes");
  const failing = drain("kubernetes");
  const other = await run(drain("kubernetes-IPv6"));
  assert.equal(other.kind, "written");
  assert.ok(clock.monotonicMs() < 1_000, `${clock.monotonicMs()} ms`);
  assert.deepEqual(puts, ["kubernetes", "kubernetes-IPv6"]);
  assert.equal((await run(failing)).kind, "failed");
  assert.equal(puts.filter((pool) => pool === "kubernetes").length, 7, "it was retried as often as ever");
});

test("a drain that joins one that is retried waits with it", async () => {
  const { clock, puts, drain } = poolRig(() => true);
  void drain("kubernetes");
  await clock.advanceUntil(() => puts.length === 1);
  await clock.advance(110);
  void drain("kubernetes");
  await clock.advance(300);
  assert.equal(puts.length, 1);
  await clock.advance(1_000);
  assert.equal(puts.length, 2);
});

/** `doomed` is withdrawn by `withdraw`. */
function withdrawalRig() {
  const rig = commitRig();
  const withdrawal = new AbortController();
  const { signal } = withdrawal;
  const write = { id: LB, kind: LIST, dedupKey: "doomed", fragment: wanted("doomed", 1), priority: "create" } as const;
  return { ...rig, doomed: rig.commit.submit({ ...write, signal }), withdraw: () => withdrawal.abort() };
}

test("a write that is withdrawn between its retries does not leave any more, and its lane ends at once", async () => {
  const { clock, arm, commit, run, doomed, withdraw } = withdrawalRig();
  arm.interpose = (request) => (isPut(request) ? error(500, "InternalServerError") : undefined);
  await clock.advanceUntil(() => arm.count("PUT") === 3);
  await clock.advance(200);
  withdraw();
  const startMs = clock.monotonicMs();
  assert.deepEqual(await run(doomed), { kind: "withdrawn" });
  assert.equal(clock.monotonicMs(), startMs);
  await clock.advance(60_000);
  assert.equal(arm.count("PUT"), 3);
  assert.equal(commit.resourcesAtWork, 0);
});

test("a write that is withdrawn before its batch leaves is taken out of it, and the others leave", async () => {
  const { clock, arm, client, run, submit, doomed, withdraw, parts } = withdrawalRig();
  const entry = await client.budgetOf(LB).enter("writes", "create");
  client.budgetOf(LB).throttled("writes", entry, 30_000);
  const other = submit(wanted("other", 1));
  await clock.advance(10_000);
  assert.equal(arm.count("PUT"), 0, "both wait for their turn");
  withdraw();
  assert.deepEqual(await run(doomed), { kind: "withdrawn" });
  assert.equal(clock.monotonicMs(), 10_000);
  assert.equal((await run(other)).kind, "written");
  assert.deepEqual(parts(), ["other-0 1"]);
});

test("a write that is withdrawn while it is in flight has the outcome of that attempt, and no other", async () => {
  for (const isRefused of [false, true]) {
    const { clock, arm, run, doomed, withdraw } = withdrawalRig();
    arm.interpose = (request) => (isPut(request) && isRefused ? error(500, "InternalServerError") : undefined);
    await clock.advanceUntil(() => arm.count("PUT") === 1);
    withdraw();
    assert.equal((await run(doomed)).kind, isRefused ? "withdrawn" : "written");
    await clock.advance(60_000);
    assert.equal(arm.count("PUT"), 1);
  }
});

test("a write that waits since Azure throttles others is reported too, with the time that is left", async () => {
  const { clock, client, commit, run } = commitRig();
  const entry = await client.budgetOf(LB).enter("writes", "create");
  client.budgetOf(LB).throttled("writes", entry, 60_000);
  await clock.advance(10_000);
  const retries: Retry[] = [];
  const onRetry = (retry: Retry): void => void retries.push(retry);
  const write = { id: LB, kind: LIST, fragment: wanted("a", 1), priority: "create", onRetry } as const;
  assert.equal((await run(commit.submit(write))).kind, "written");
  const waits = retries.map(({ failure, afterMs }) => [failure.kind, Math.ceil(afterMs / 1_000)]);
  assert.deepEqual(waits, [["throttled", 50]]);
});

test("a drain that Azure throttles for an hour is tried again after seconds, another write after minutes", async () => {
  for (const { priority, withinMs } of [
    { priority: "drain", withinMs: 6_000 },
    { priority: "create", withinMs: 301_000 },
  ] as const) {
    const { clock, arm, submit, run } = commitRig();
    const throttled = { ...error(429, "SubscriptionRequestsThrottled"), headers: { "retry-after": "3600" } };
    arm.interpose = (request) => (isPut(request) && arm.count("PUT") === 1 ? throttled : undefined);
    assert.equal((await run(submit(wanted("a", 1), LB, priority))).kind, "written");
    assert.ok(clock.monotonicMs() < withinMs, `${priority}: ${clock.monotonicMs()} ms`);
  }
});
