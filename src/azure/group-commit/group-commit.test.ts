/** What a group commit promises while Azure does as it is told: merging, conflicts, deletion, lanes, closing. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { commitRig, GROUP, isPut, kinds, LB, owners, PIP } from "../../../test/support/commit-rig.ts";
import { error, json } from "../../../test/support/memory-arm.ts";
import { listAt, type ListFragment, mergeList, type SharedList, wanted } from "../../../test/support/shared-list.ts";
import { settled } from "../../../test/support/virtual-clock.ts";
import { type Answer, answersOf, type Merged } from "../../core/outcome.ts";
import type { ArmBody } from "./commit-types.ts";
import { WriteKind } from "./write-kind.ts";

function putDown(seen: ArmBody | undefined, fragments: readonly unknown[]): Merged<ArmBody> {
  const body = { ...seen, properties: { down: true } };
  return { outcome: { kind: "put", body }, answers: answersOf(fragments) };
}

test("writes that come together leave together", async () => {
  const { arm, submit, run, parts } = commitRig();
  const outcomes = await run(Promise.all(owners(50).map((owner) => submit(wanted(owner, 1)))));
  assert.deepEqual(new Set(kinds(outcomes)), new Set(["written"]));
  assert.equal(parts().length, 50);
  assert.equal(arm.count("PUT"), 1);
});

test("what comes while a write is in flight leaves with the next one", async () => {
  const { clock, arm, submit, run, parts } = commitRig({ operationMs: 1_000 });
  const first = submit(wanted("first", 1));
  await clock.advanceUntil(() => arm.count("PUT") === 1);
  const later = owners(100).map((owner) => submit(wanted(owner, 1)));
  await run(Promise.all([first, ...later]));
  assert.equal(arm.count("PUT"), 2);
  assert.equal(parts().length, 101);
});

test("a write ends with the resource as Azure then has it, which is published too", async () => {
  const { arm, known, submit, run } = commitRig({ operationMs: 1_000 });
  const outcome = await run(submit(wanted("a", 1)));
  assert.ok(outcome.kind === "written");
  assert.equal(outcome.body.etag, arm.read(LB)?.["etag"]);
  assert.deepEqual(known.get(LB.toLowerCase()), outcome.body);
});

test("a newer fragment of an owner takes the place of one that waits, and both get its outcome", async () => {
  const { clock, arm, submit, run, parts } = commitRig({ operationMs: 1_000 });
  const first = submit(wanted("first", 1));
  await clock.advanceUntil(() => arm.count("PUT") === 1);
  const outcomes = [first, submit(wanted("a", 1)), submit(wanted("a", 2)), submit(wanted("a", 3))];
  assert.deepEqual(kinds(await run(Promise.all(outcomes))), ["written", "written", "written", "written"]);
  assert.deepEqual(parts(), ["a-0 3", "first-0 1"]);
  assert.equal(arm.count("PUT"), 2);
});

test("what is right already costs no write, and with the mirror no read", async () => {
  const { arm, submit, run } = commitRig();
  await run(submit(wanted("a", 1)));
  const before = arm.requests.length;
  assert.equal((await run(submit(wanted("a", 1)))).kind, "unchanged");
  assert.equal(arm.requests.length, before);
});

test("a change by another client is seen, kept and merged with", async () => {
  const { arm, submit, run, parts, foreign } = commitRig();
  await run(submit(wanted("a", 1)));
  foreign(7);
  assert.equal((await run(submit(wanted("a", 2)))).kind, "written");
  assert.deepEqual(parts(), ["a-0 2", "foreign 7"]);
  assert.equal(arm.count("PUT"), 3, "one, one refused, one after another look");
});

test("a creation that another client beats becomes a merge", async () => {
  const { arm, submit, run, parts, foreign } = commitRig();
  arm.interpose = (request) => {
    if (isPut(request) && arm.count("PUT") === 1) foreign(7);
    return undefined;
  };
  await run(submit(wanted("a", 1)));
  assert.deepEqual(parts(), ["a-0 1", "foreign 7"]);
});

test("a storm of conflicts ends when the other writer does", async () => {
  const { arm, submit, run, parts, foreign } = commitRig();
  foreign(0);
  arm.interpose = (request) => {
    if (isPut(request) && arm.count("PUT") <= 8) foreign(arm.count("PUT"));
    return undefined;
  };
  assert.equal((await run(submit(wanted("a", 1)))).kind, "written");
  assert.deepEqual(parts(), ["a-0 1", "foreign 8"]);
});

test("a storm without end fails, bounded, with the conflict", async () => {
  const { clock, arm, submit, run, foreign } = commitRig();
  arm.interpose = (request) => {
    if (isPut(request)) foreign(arm.count("PUT"));
    return undefined;
  };
  const outcome = await run(submit(wanted("a", 1)));
  assert.ok(outcome.kind === "failed" && outcome.failure.kind === "conflict");
  assert.ok(arm.count("PUT") <= 14);
  assert.ok(clock.monotonicMs() < 60_000);
});

test("an operation that a newer one cancelled is done again on what that one left", async () => {
  const { arm, submit, run, parts, foreign } = commitRig({ operationMs: 1_000 });
  let cancelled = 0;
  arm.interpose = ({ url }) => {
    if (!url.includes("/operations/") || cancelled++ > 0) return undefined;
    arm.write(LB, { properties: { parts: [] } });
    foreign(7);
    const details = [{ code: "CanceledAndSupersededDueToAnotherOperation", message: "by another" }];
    return json(200, { status: "Canceled", error: { code: "Canceled", message: "Operation was canceled.", details } });
  };
  arm.write(LB, { properties: { parts: [] } });
  assert.equal((await run(submit(wanted("a", 1)))).kind, "written");
  assert.deepEqual(parts(), ["a-0 1", "foreign 7"]);
});

test("a running operation of another client is waited for, not cancelled", async () => {
  const { clock, arm, submit, run, parts } = commitRig();
  arm.write(LB, { properties: { provisioningState: "Updating", parts: [] } });
  const outcome = submit(wanted("a", 1));
  clock.setTimer(4_000, () => arm.write(LB, { properties: { provisioningState: "Succeeded", parts: [] } }));
  await clock.advance(3_999);
  assert.equal(arm.count("PUT"), 0);
  assert.equal((await run(outcome)).kind, "written");
  assert.deepEqual(parts(), ["a-0 1"]);
});

test("a fragment that cannot stand is refused alone", async () => {
  const { submit, run, parts } = commitRig();
  const outcomes = await run(Promise.all([submit(wanted("a", 1)), submit(wanted("bad", -1)), submit(wanted("b", 2))]));
  assert.deepEqual(kinds(outcomes), ["written", "refused", "written"]);
  assert.ok(outcomes[1]?.kind === "refused" && outcomes[1].rejection.message === "bad is negative");
  assert.deepEqual(parts(), ["a-0 1", "b-0 2"]);
});

test("each write is told the answer to its own fragment, and a newer one with the same key answers for the older", async () => {
  const { commit, run } = commitRig();
  const merged: (readonly string[])[] = [];
  const kind = new WriteKind("words", (_seen: ArmBody | undefined, words: readonly string[]): Merged<ArmBody> => {
    merged.push(words);
    const answers = words.map((word): Answer => {
      if (word === "late") return { kind: "stale" };
      return { kind: "accepted", warnings: [{ reason: "ForeignBackendAddress", message: word }] };
    });
    return { outcome: { kind: "put", body: { properties: { words } } }, answers };
  });
  const say = (fragment: string, dedupKey?: string) =>
    commit.submit({ id: LB, kind, fragment, priority: "create", ...(dedupKey !== undefined && { dedupKey }) });
  const outcomes = await run(Promise.all([say("one", "a"), say("late", "b"), say("three"), say("four", "a")]));
  const told = outcomes.map((outcome) => ("warnings" in outcome ? outcome.warnings[0]?.message : outcome.kind));
  assert.deepEqual(told, ["four", "stale", "three", "four"]);
  assert.deepEqual(merged.at(-1), ["four", "late", "three"]);
});

test("an answer that makes no sense is no base for a write: nothing of others goes", async () => {
  const { arm, submit, run, parts, foreign } = commitRig();
  foreign(7);
  let garbled = 3;
  arm.interpose = ({ method }) =>
    method === "GET" && garbled-- > 0 ? json(200, { ...arm.read(LB), properties: 7 }) : undefined;
  assert.equal((await run(submit(wanted("a", 1)))).kind, "written");
  assert.deepEqual(parts(), ["a-0 1", "foreign 7"]);
});

test("bad news is only believed after a look at Azure itself", async () => {
  const { arm, commit, submit, run } = commitRig();
  await run(submit(wanted("a", 1)));
  // another client has changed what stands in the way, which the last sighting does not show
  const kind = new WriteKind(
    "list",
    (seen: SharedList | undefined, fragments: readonly ListFragment[]): Merged<SharedList> => {
      const blocked = seen?.properties.parts?.some(({ owner }) => owner === "a") ?? false;
      const rejection = { kind: "rejection", reason: "PortConflict", message: "blocked" } as const;
      if (!blocked) return mergeList(seen, fragments);
      return { outcome: { kind: "unchanged" }, answers: fragments.map(() => ({ kind: "refused", rejection })) };
    },
  );
  const write = { id: LB, kind, dedupKey: "b", fragment: wanted("b", 1), priority: "create" } as const;
  arm.write(LB, { properties: { parts: [] } });
  assert.equal((await run(commit.submit(write))).kind, "written");
  arm.write(LB, { properties: { parts: wanted("a", 1).parts } });
  assert.equal((await run(commit.submit({ ...write, readFirst: true }))).kind, "refused");
});

test("a resource without any owner's part is deleted, under the ETag of a fresh look", async () => {
  const { arm, submit, run } = commitRig({ operationMs: 1_000 });
  await run(submit(wanted("a", 1)));
  assert.equal((await run(submit(wanted("a")))).kind, "deleted");
  assert.equal(arm.read(LB), undefined);
  assert.ok(arm.requests.find(({ method }) => method === "DELETE")?.headers["if-match"] !== undefined);
});

test("a resource that another client has begun to use is not deleted", async () => {
  const { arm, submit, run, parts, foreign } = commitRig();
  await run(submit(wanted("a", 1)));
  foreign(7);
  assert.equal((await run(submit(wanted("a")))).kind, "written");
  assert.deepEqual(parts(), ["foreign 7"]);
  assert.equal(arm.count("DELETE"), 0);
});

test("another client that begins to use it between read and delete wins", async () => {
  const { arm, submit, run, parts, foreign } = commitRig();
  await run(submit(wanted("a", 1)));
  arm.interpose = ({ method }) => {
    if (method === "DELETE") foreign(7);
    return undefined;
  };
  assert.equal((await run(submit(wanted("a")))).kind, "written");
  assert.deepEqual(parts(), ["foreign 7"]);
});

test("a part goes through the lane of its whole, urgent ones first, and the whole is read after it", async () => {
  const { clock, arm, commit, known, submit, run } = commitRig();
  await run(submit(wanted("a", 1)));
  const pool = `${LB}/backendAddressPools/pool`;
  const list = listAt(arm, LB);
  arm.write(LB, { ...list, properties: { ...list.properties, backendAddressPools: [{ name: "pool" }] } });
  known.clear();
  const order: string[] = [];
  arm.interpose = (request) => {
    const path = new URL(request.url).pathname;
    if (isPut(request)) order.push(path);
    if (path !== pool) return undefined;
    const whole = listAt(arm, LB);
    if (request.headers["if-match"] !== whole.etag) return error(412, "PreconditionFailed");
    arm.write(LB, {
      ...whole,
      properties: { ...whole.properties, backendAddressPools: [JSON.parse(request.body ?? "")] },
    });
    return json(200, { properties: { provisioningState: "Succeeded" } });
  };
  const first = submit(wanted("a", 2));
  await clock.advanceUntil(() => order.length === 1);
  const lb = submit(wanted("a", 3));
  const seenByMerge: unknown[] = [];
  const drained = commit.submit({
    id: pool,
    kind: new WriteKind("adminState", (seen: ArmBody | undefined, fragments: readonly string[]) => {
      seenByMerge.push(seen);
      return putDown(seen, fragments);
    }),
    fragment: "down",
    priority: "drain",
  });
  await run(Promise.all([first, lb, drained]));
  assert.deepEqual(order, [LB, pool, LB]);
  assert.deepEqual(seenByMerge, [{ name: "pool" }]);
  const last = known.get(LB.toLowerCase());
  assert.deepEqual(last?.properties, { ...(arm.read(LB)?.["properties"] as object) });
  assert.match(JSON.stringify(last), /"down":true.*"value":3|"value":3.*"down":true/);
});

test("without leave to write nothing is written, however long the write had waited", async () => {
  let isLeader = true;
  const { clock, arm, submit, run } = commitRig({}, { mayWrite: () => isLeader });
  arm.interpose = (request) => {
    if (!isPut(request) || arm.count("PUT") > 1) return undefined;
    clock.setTimer(10_000, () => (isLeader = false));
    return { ...error(429, "SubscriptionRequestsThrottled"), headers: { "retry-after": "30" } };
  };
  const outcome = await run(submit(wanted("a", 1)));
  assert.ok(outcome.kind === "failed" && outcome.failure.kind === "fenced");
  assert.equal(arm.count("PUT"), 1);
});

test("closing lets the write in flight end and fails what waits", async () => {
  const { clock, arm, commit, submit, run, parts } = commitRig({ operationMs: 15_000 });
  const inFlight = submit(wanted("a", 1));
  await clock.advanceUntil(() => arm.count("PUT") === 1);
  const waiting = submit(wanted("b", 1));
  const closed = commit.close();
  await run(closed);
  assert.deepEqual(kinds(await Promise.all([inFlight, waiting, submit(wanted("c", 1))])), [
    "written",
    "failed",
    "failed",
  ]);
  assert.deepEqual(parts(), ["a-0 1"]);
  assert.equal(clock.timers, 0);
});

test("closing cuts every wait short", async () => {
  const { clock, arm, commit, submit, run } = commitRig();
  arm.interpose = (request) =>
    isPut(request) ? { ...error(429, "SubscriptionRequestsThrottled"), headers: { "retry-after": "300" } } : undefined;
  const outcomes = [submit(wanted("a", 1)), submit(wanted("b", 1), PIP)];
  await clock.advance(5_000);
  await run(commit.close());
  assert.deepEqual(kinds(await Promise.all(outcomes)), ["failed", "failed"]);
  assert.ok(clock.monotonicMs() < 6_000);
});

for (const provisioningState of ["Failed", "Canceled"]) {
  test(`a reference whose provisioning ended ${provisioningState} is repaired and the write goes on`, async () => {
    const { arm, submit, run } = commitRig();
    arm.write(PIP, { properties: { provisioningState } });
    arm.interpose = (request) => {
      const isReady = JSON.stringify(arm.read(PIP)).includes("Succeeded");
      if (!isPut(request) || !request.url.includes("/loadBalancers/") || isReady) return undefined;
      const message = `Cannot proceed because resource ${PIP} used by resource ${LB} is not in Succeeded state.`;
      return error(429, "RetryableError", { details: [{ code: "ReferencedResourceNotProvisioned", message }] });
    };
    assert.equal((await run(submit(wanted("a", 1)))).kind, "written");
  });
}

test("a reference that never gets ready fails its own writer alone", async () => {
  const { arm, submit, run } = commitRig();
  arm.interpose = (request) => {
    if (!isPut(request) || !request.body?.includes('"value":666')) return undefined;
    return error(429, "ReferencedResourceNotProvisioned", { message: `${PIP} is not ready` });
  };
  const outcomes = await run(
    Promise.all([submit(wanted("a", 1)), submit(wanted("slow", 666)), submit(wanted("b", 2))]),
  );
  assert.deepEqual(kinds(outcomes), ["written", "failed", "written"]);
});

test("a missing permission fails every write at once", async () => {
  const { arm, submit, run } = commitRig();
  arm.interpose = (request) => (isPut(request) ? error(403, "AuthorizationFailed") : undefined);
  const outcomes = await run(Promise.all(owners(9).map((owner) => submit(wanted(owner, 1)))));
  assert.deepEqual(new Set(kinds(outcomes)), new Set(["failed"]));
  assert.equal(arm.count("PUT"), 1);
});

test("a read that fails is never taken for an absent resource", async () => {
  const { arm, submit, run } = commitRig();
  arm.write(LB, { properties: { parts: wanted("theirs", 1).parts } });
  arm.interpose = ({ method }) => (method === "GET" ? error(403, "AuthorizationFailed") : undefined);
  const outcome = await run(submit(wanted("a", 1)));
  assert.ok(outcome.kind === "failed" && outcome.failure.kind === "denied");
  assert.equal(arm.count("PUT"), 0);
});

test("different resources are written at the same time", async () => {
  const { clock, submit, run } = commitRig();
  const ids = owners(20).map((name) => `${GROUP}/publicIPAddresses/${name}`);
  await run(Promise.all(ids.map((id) => submit(wanted("a", 1), id))));
  assert.ok(clock.monotonicMs() <= 10 + 2 * 100, "one look and one write of 100 ms each");
});

test("a merge that throws fails its writers and nothing else", async () => {
  const { commit, submit, run, parts } = commitRig();
  const broken = commit.submit({
    id: LB,
    kind: new WriteKind("broken", () => {
      throw new Error("a bug");
    }),
    fragment: undefined,
    priority: "create",
  });
  const fine = submit(wanted("b", 1));
  await assert.rejects(run(broken), /a bug/);
  assert.equal((await run(fine)).kind, "written");
  assert.deepEqual(parts(), ["b-0 1"]);
});

test("each attempt is reported with its size and how it ended", async () => {
  const { attempts, submit, run, foreign } = commitRig();
  await run(submit(wanted("a", 1)));
  foreign(1);
  await run(Promise.all([submit(wanted("a", 2)), submit(wanted("b", 2))]));
  await settled();
  assert.deepEqual(
    attempts.map(({ size, outcome }) => [size, outcome]),
    [
      [1, "written"],
      [2, "conflict"],
      [2, "written"],
    ],
  );
});

test("a part of what failed is written once the whole was made good", async () => {
  const { arm, commit, run } = commitRig();
  const pool = `${LB}/backendAddressPools/pool`;
  arm.write(LB, { properties: { provisioningState: "Failed", backendAddressPools: [{ name: "pool" }] } });
  const order: string[] = [];
  arm.interpose = (request) => {
    const path = new URL(request.url).pathname;
    if (isPut(request)) order.push(path);
    const properties = arm.read(LB)?.["properties"] as { provisioningState?: string };
    if (isPut(request) && path === LB) arm.write(LB, { properties: { ...properties, provisioningState: "Succeeded" } });
    if (path === LB || !isPut(request)) return undefined;
    if (properties.provisioningState === "Failed") return error(400, "ParentResourceIsInFailedState");
    arm.write(LB, { properties: { ...properties, backendAddressPools: [JSON.parse(request.body ?? "")] } });
    return json(200, {});
  };
  const outcome = await run(
    commit.submit({
      id: pool,
      kind: new WriteKind("adminState", putDown),
      fragment: undefined,
      priority: "drain",
    }),
  );
  assert.equal(outcome.kind, "written");
  assert.deepEqual(order, [LB, pool]);
});

test("what is read after a write, but from before it, is no base for the next one", async () => {
  const { arm, submit, run, parts } = commitRig({ operationMs: 1_000 });
  await run(submit(wanted("a", 1)));
  const before = arm.read(LB);
  let isOld = true;
  arm.interpose = ({ method, url }) => {
    const isRead = method === "GET" && new URL(url).pathname === LB;
    if (!isRead || !isOld || arm.read(LB)?.["etag"] === before?.["etag"]) return undefined;
    isOld = false;
    return json(200, before);
  };
  await run(submit(wanted("a", 2)));
  assert.equal(isOld, false);
  await run(submit(wanted("a", 1)));
  assert.deepEqual(parts(), ["a-0 1"]);
});
