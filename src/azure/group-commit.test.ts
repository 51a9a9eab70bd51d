import assert from "node:assert/strict";
import { test } from "node:test";

import { armRig } from "../../test/support/arm-rig.ts";
import { error, json, type MemoryArmOptions } from "../../test/support/memory-arm.ts";
import { mergeList, wish, type SharedList, type Wish } from "../../test/support/shared-list.ts";
import { seededRandom, settled } from "../../test/support/virtual-clock.ts";
import type { ArmBody, AttemptReport, Committed } from "./commit-types.ts";
import { GroupCommit, type GroupCommitOptions } from "./group-commit.ts";
import type { ArmRequest } from "./transport.ts";
import { NoAnswer } from "./transport.ts";

const GROUP = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network";
const LB = `${GROUP}/loadBalancers/lb`;
const PIP = `${GROUP}/publicIPAddresses/pip`;

function rig(armOptions: Omit<MemoryArmOptions, "clock"> = {}, options: Partial<GroupCommitOptions> = {}) {
  const { clock, arm, client, run } = armRig({ replyMs: 100, ...armOptions });
  const attempts: AttemptReport[] = [];
  const known = new Map<string, ArmBody | null>();
  const commit = new GroupCommit({
    client,
    clock,
    random: seededRandom(2),
    mayWrite: () => true,
    lastSeen: (id) => known.get(id.toLowerCase()),
    onSeen: (id, body) => {
      if (body === undefined) known.delete(id.toLowerCase());
      else known.set(id.toLowerCase(), body);
    },
    onAttempt: (report) => attempts.push(report),
    ...options,
  });
  const submit = (fragment: Wish, id = LB, priority: "create" | "drain" = "create"): Promise<Committed<SharedList>> =>
    commit.submit({ id, kind: "list", owner: fragment.owner, fragment, merge: mergeList, priority });
  /** `name value` of all parts, sorted. */
  const parts = (id = LB): string[] => {
    const list = arm.read(id) as unknown as SharedList | undefined;
    return (list?.properties.parts ?? []).map(({ name, value }) => `${name} ${value}`).sort();
  };
  const foreign = (value: number): void => {
    const list = arm.read(LB) as unknown as SharedList | undefined;
    const theirs = { name: "foreign", owner: "somebody", value };
    const kept = (list?.properties.parts ?? []).filter(({ name }) => name !== "foreign");
    arm.write(LB, { ...list, properties: { provisioningState: "Succeeded", parts: [...kept, theirs] } });
  };
  return { clock, arm, commit, attempts, known, submit, run, parts, foreign };
}

const kinds = (outcomes: readonly { kind: string }[]): string[] => outcomes.map(({ kind }) => kind);
const isPut = ({ method }: ArmRequest): boolean => method === "PUT";
const owners = (count: number): string[] => Array.from({ length: count }, (_, at) => `o${at}`);

test("writes that come together leave together", async () => {
  const { arm, submit, run, parts } = rig();
  const outcomes = await run(Promise.all(owners(50).map((owner) => submit(wish(owner, 1)))));
  assert.deepEqual(new Set(kinds(outcomes)), new Set(["written"]));
  assert.equal(parts().length, 50);
  assert.equal(arm.count("PUT"), 1);
});

test("what comes while a write is in flight leaves with the next one", async () => {
  const { clock, arm, submit, run, parts } = rig({ operationMs: 1_000 });
  const first = submit(wish("first", 1));
  await clock.advanceUntil(() => arm.count("PUT") === 1);
  const later = owners(100).map((owner) => submit(wish(owner, 1)));
  await run(Promise.all([first, ...later]));
  assert.equal(arm.count("PUT"), 2);
  assert.equal(parts().length, 101);
});

test("a write ends with the resource as Azure then has it, which is published too", async () => {
  const { arm, known, submit, run } = rig({ operationMs: 1_000 });
  const outcome = await run(submit(wish("a", 1)));
  assert.ok(outcome.kind === "written");
  assert.equal(outcome.body.etag, arm.read(LB)?.["etag"]);
  assert.deepEqual(known.get(LB.toLowerCase()), outcome.body);
});

test("a newer wish of an owner takes the place of one that waits, and both get its outcome", async () => {
  const { clock, arm, submit, run, parts } = rig({ operationMs: 1_000 });
  const first = submit(wish("first", 1));
  await clock.advanceUntil(() => arm.count("PUT") === 1);
  const outcomes = [first, submit(wish("a", 1)), submit(wish("a", 2)), submit(wish("a", 3))];
  assert.deepEqual(kinds(await run(Promise.all(outcomes))), ["written", "written", "written", "written"]);
  assert.deepEqual(parts(), ["a-0 3", "first-0 1"]);
  assert.equal(arm.count("PUT"), 2);
});

test("what is right already costs no write, and with the mirror no read", async () => {
  const { arm, submit, run } = rig();
  await run(submit(wish("a", 1)));
  const before = arm.requests.length;
  assert.equal((await run(submit(wish("a", 1)))).kind, "unchanged");
  assert.equal(arm.requests.length, before);
});

test("a change by somebody else is seen, kept and merged with", async () => {
  const { arm, submit, run, parts, foreign } = rig();
  await run(submit(wish("a", 1)));
  foreign(7);
  assert.equal((await run(submit(wish("a", 2)))).kind, "written");
  assert.deepEqual(parts(), ["a-0 2", "foreign 7"]);
  assert.equal(arm.count("PUT"), 3, "one, one refused, one after another look");
});

test("a creation that somebody else beats becomes a merge", async () => {
  const { arm, submit, run, parts, foreign } = rig();
  arm.interpose = (request) => {
    if (isPut(request) && arm.count("PUT") === 1) foreign(7);
    return undefined;
  };
  await run(submit(wish("a", 1)));
  assert.deepEqual(parts(), ["a-0 1", "foreign 7"]);
});

test("a storm of conflicts ends when the other writer does", async () => {
  const { arm, submit, run, parts, foreign } = rig();
  foreign(0);
  arm.interpose = (request) => {
    if (isPut(request) && arm.count("PUT") <= 8) foreign(arm.count("PUT"));
    return undefined;
  };
  assert.equal((await run(submit(wish("a", 1)))).kind, "written");
  assert.deepEqual(parts(), ["a-0 1", "foreign 8"]);
});

test("a storm without end fails, bounded, with the conflict", async () => {
  const { clock, arm, submit, run, foreign } = rig();
  arm.interpose = (request) => {
    if (isPut(request)) foreign(arm.count("PUT"));
    return undefined;
  };
  const outcome = await run(submit(wish("a", 1)));
  assert.ok(outcome.kind === "failed" && outcome.failure.kind === "conflict");
  assert.ok(arm.count("PUT") <= 14);
  assert.ok(clock.monotonicMs() < 60_000);
});

test("an operation that a newer one cancelled is done again on what that one left", async () => {
  const { arm, submit, run, parts, foreign } = rig({ operationMs: 1_000 });
  let cancelled = 0;
  arm.interpose = ({ url }) => {
    if (!url.includes("/operations/") || cancelled++ > 0) return undefined;
    arm.write(LB, { properties: { parts: [] } });
    foreign(7);
    const details = [{ code: "CanceledAndSupersededDueToAnotherOperation", message: "by another" }];
    return json(200, { status: "Canceled", error: { code: "Canceled", message: "Operation was canceled.", details } });
  };
  arm.write(LB, { properties: { parts: [] } });
  assert.equal((await run(submit(wish("a", 1)))).kind, "written");
  assert.deepEqual(parts(), ["a-0 1", "foreign 7"]);
});

test("a running operation of somebody else is waited for, not cancelled", async () => {
  const { clock, arm, submit, run, parts } = rig();
  arm.write(LB, { properties: { provisioningState: "Updating", parts: [] } });
  const outcome = submit(wish("a", 1));
  clock.setTimer(4_000, () => arm.write(LB, { properties: { provisioningState: "Succeeded", parts: [] } }));
  await clock.advance(3_999);
  assert.equal(arm.count("PUT"), 0);
  assert.equal((await run(outcome)).kind, "written");
  assert.deepEqual(parts(), ["a-0 1"]);
});

test("a wish that cannot stand is refused alone", async () => {
  const { submit, run, parts } = rig();
  const outcomes = await run(Promise.all([submit(wish("a", 1)), submit(wish("bad", -1)), submit(wish("b", 2))]));
  assert.deepEqual(kinds(outcomes), ["written", "refused", "written"]);
  assert.ok(outcomes[1]?.kind === "refused" && outcomes[1].rejection.message === "bad is negative");
  assert.deepEqual(parts(), ["a-0 1", "b-0 2"]);
});

test("an answer that makes no sense is no base for a write: nothing of others goes", async () => {
  const { arm, submit, run, parts, foreign } = rig();
  foreign(7);
  let garbled = 3;
  arm.interpose = ({ method }) =>
    method === "GET" && garbled-- > 0 ? json(200, { ...arm.read(LB), properties: 7 }) : undefined;
  assert.equal((await run(submit(wish("a", 1)))).kind, "written");
  assert.deepEqual(parts(), ["a-0 1", "foreign 7"]);
});

test("bad news is only believed after a look at Azure itself", async () => {
  const { arm, commit, submit, run } = rig();
  await run(submit(wish("a", 1)));
  // somebody has changed what stands in the way, which the last sighting does not show
  const write = {
    id: LB,
    kind: "list",
    owner: "b",
    fragment: wish("b", 1),
    merge: (seen: SharedList | undefined, wishes: readonly Wish[]) => {
      const blocked = seen?.properties.parts?.some(({ owner }) => owner === "a") ?? false;
      const rejection = { kind: "rejection", reason: "Blocked", message: "blocked" } as const;
      const merged = mergeList(seen, wishes);
      return blocked
        ? { ...merged, outcome: { kind: "unchanged" } as const, refused: [{ owner: "b", rejection }] }
        : merged;
    },
    priority: "create",
  } as const;
  arm.write(LB, { properties: { parts: [] } });
  assert.equal((await run(commit.submit(write))).kind, "written");
  arm.write(LB, { properties: { parts: wish("a", 1).parts } });
  assert.equal((await run(commit.submit({ ...write, afresh: true }))).kind, "refused");
});

for (const { name, message } of [
  { name: "that Azure names", message: (culprit: string): string => `Rule ${LB}/rules/${culprit}-0 clashes.` },
  { name: "that Azure does not name", message: (): string => "Something clashes." },
]) {
  test(`one poisoned wish among a hundred, ${name}, fails alone and with its own error`, async () => {
    const { arm, submit, run, parts } = rig();
    arm.write(LB, { properties: { parts: wish("somebody", 1).parts } });
    arm.interpose = (request) =>
      isPut(request) && request.body?.includes('"value":666')
        ? error(400, "Clash", { message: message("o37") })
        : undefined;
    const wishes = owners(100).map((owner) => wish(owner, owner === "o37" ? 666 : 1));
    const outcomes = await run(Promise.all(wishes.map((each) => submit(each))));
    const failed = outcomes.filter(({ kind }) => kind !== "written");
    assert.equal(failed.length, 1);
    assert.ok(outcomes[37]?.kind === "failed" && outcomes[37].failure.code === "Clash");
    assert.equal(parts().length, 100);
    assert.ok(arm.count("PUT") <= (name === "that Azure names" ? 3 : 15), `${arm.count("PUT")} PUTs`);
    assert.equal(arm.count("GET"), 1, "a refusal up front needs no other look");
  });
}

test("several poisoned wishes are all found", async () => {
  const { arm, submit, run, parts } = rig();
  arm.interpose = (request) =>
    isPut(request) && request.body?.includes('"value":666') ? error(400, "Clash") : undefined;
  const isBad = (at: number): boolean => at % 7 === 3;
  const wishes = owners(30).map((owner, at) => wish(owner, isBad(at) ? 666 : 1));
  const outcomes = await run(Promise.all(wishes.map((each) => submit(each))));
  assert.deepEqual(
    kinds(outcomes),
    wishes.map((_, at) => (isBad(at) ? "failed" : "written")),
  );
  assert.equal(parts().length, 26);
});

test("a poison that shows only as the operation's failure is found too, and nothing of it stays", async () => {
  const { arm, submit, run, parts } = rig({ operationMs: 0 });
  arm.write(LB, { properties: { parts: wish("somebody", 1).parts, provisioningState: "Succeeded" } });
  arm.interpose = (request) => {
    const list = arm.read(LB) as unknown as SharedList;
    if (!request.url.includes("/operations/") || !JSON.stringify(list).includes('"value":666')) return undefined;
    arm.write(LB, { ...list, properties: { ...list.properties, provisioningState: "Failed" } });
    return json(200, { status: "Failed", error: { code: "SecurityRuleConflict", message: "no", details: [] } });
  };
  const outcomes = await run(Promise.all([submit(wish("a", 1)), submit(wish("bad", 666)), submit(wish("b", 2))]));
  assert.deepEqual(kinds(outcomes), ["written", "failed", "written"]);
  await run(submit(wish("c", 3)));
  assert.deepEqual(parts(), ["a-0 1", "b-0 2", "c-0 3", "somebody-0 1"]);
  assert.equal((arm.read(LB) as unknown as SharedList).properties.provisioningState, "Succeeded");
});

test("a poison that is alone leaves nothing behind either", async () => {
  const { clock, arm, commit, submit, run, parts } = rig({ operationMs: 0 });
  arm.write(LB, { properties: { parts: wish("somebody", 1).parts, provisioningState: "Succeeded" } });
  arm.interpose = (request) => {
    const list = arm.read(LB) as unknown as SharedList;
    if (!request.url.includes("/operations/") || !JSON.stringify(list).includes('"value":666')) return undefined;
    arm.write(LB, { ...list, properties: { ...list.properties, provisioningState: "Failed" } });
    return json(200, { status: "Failed", error: { code: "SecurityRuleConflict", message: "no", details: [] } });
  };
  assert.equal((await run(submit(wish("bad", 666)))).kind, "failed");
  await clock.advanceUntil(() => commit.resourcesAtWork === 0);
  assert.deepEqual(parts(), ["somebody-0 1"]);
});

test("when Azure stumbles the whole batch is tried again, with what came meanwhile", async () => {
  const { clock, arm, submit, run, parts } = rig();
  let stumbles = 2;
  arm.interpose = (request) => (isPut(request) && stumbles-- > 0 ? error(503, "ServiceUnavailable") : undefined);
  const first = Promise.all(owners(5).map((owner) => submit(wish(owner, 1))));
  await clock.advanceUntil(() => arm.count("PUT") === 1);
  const late = submit(wish("late", 1));
  assert.deepEqual(new Set(kinds([...(await run(first)), await run(late)])), new Set(["written"]));
  assert.equal(parts().length, 6);
  assert.equal(arm.count("PUT"), 3);
});

test("when Azure does not recover all fail with its words", async () => {
  const { clock, arm, submit, run } = rig();
  arm.interpose = (request) => (isPut(request) ? error(503, "ServiceUnavailable") : undefined);
  const outcomes = await run(Promise.all(owners(3).map((owner) => submit(wish(owner, 1)))));
  for (const outcome of outcomes) assert.ok(outcome.kind === "failed" && outcome.failure.code === "ServiceUnavailable");
  assert.equal(arm.count("PUT"), 7);
  assert.ok(clock.monotonicMs() < 60_000);
});

test("while throttled nothing is sent, and what gathers leaves in one write", async () => {
  const { clock, arm, submit, run, parts } = rig();
  let refusals = 1;
  arm.interpose = (request) =>
    isPut(request) && refusals-- > 0
      ? { ...error(429, "SubscriptionRequestsThrottled"), headers: { "retry-after": "30" } }
      : undefined;
  const first = submit(wish("first", 1));
  await clock.advance(1_000);
  const later = owners(20).map((owner) => submit(wish(owner, 1)));
  await clock.advance(28_000);
  assert.equal(arm.count("PUT"), 1);
  await run(Promise.all([first, ...later]));
  assert.equal(arm.count("PUT"), 2);
  assert.equal(parts().length, 21);
});

test("a write whose answer is lost is looked for before it is sent again", async () => {
  const { arm, submit, run, parts } = rig();
  arm.interpose = (request) => {
    if (!isPut(request)) return undefined;
    arm.answer(request);
    throw new NoAnswer("cut", true);
  };
  assert.equal((await run(submit(wish("a", 1)))).kind, "unchanged");
  assert.deepEqual(parts(), ["a-0 1"]);
  assert.equal(arm.count("PUT"), 1);
});

test("a lost write whose operation still runs is waited for", async () => {
  const { clock, arm, submit, run } = rig();
  arm.interpose = (request) => {
    if (!isPut(request)) return undefined;
    const body = JSON.parse(request.body ?? "") as SharedList;
    arm.write(LB, { ...body, properties: { ...body.properties, provisioningState: "Updating" } });
    clock.setTimer(5_000, () =>
      arm.write(LB, { ...body, properties: { ...body.properties, provisioningState: "Succeeded" } }),
    );
    throw new NoAnswer("cut", true);
  };
  assert.equal((await run(submit(wish("a", 1)))).kind, "unchanged");
  assert.ok(clock.monotonicMs() >= 5_000);
});

test("what a failed operation left broken is written once more, although it looks right", async () => {
  const { arm, submit, run } = rig({ operationMs: 0 });
  let failures = 1;
  arm.interpose = ({ url }) => {
    if (!url.includes("/operations/") || failures-- <= 0) return undefined;
    const list = arm.read(LB) as unknown as SharedList;
    arm.write(LB, { ...list, properties: { ...list.properties, provisioningState: "Failed" } });
    return json(200, { status: "Failed", error: { code: "InternalServerError", message: "oh", details: [] } });
  };
  assert.equal((await run(submit(wish("a", 1)))).kind, "written");
  assert.equal((arm.read(LB) as unknown as SharedList).properties.provisioningState, "Succeeded");
  assert.equal(arm.count("PUT"), 2);
});

test("what nobody's fault left behind stays: its owner may have seen it by now", async () => {
  const { clock, arm, submit, run, parts } = rig({ operationMs: 0 });
  arm.write(LB, { properties: { parts: wish("somebody", 1).parts, provisioningState: "Succeeded" } });
  let [failures, isDown] = [1, true];
  arm.interpose = (request) => {
    if (isPut(request) && failures === 0 && isDown) throw new NoAnswer("cut", true);
    if (!request.url.includes("/operations/") || failures-- <= 0) return undefined;
    const list = arm.read(LB) as unknown as SharedList;
    arm.write(LB, { ...list, properties: { ...list.properties, provisioningState: "Failed" } });
    return json(200, { status: "Failed", error: { code: "InternalServerError", message: "oh", details: [] } });
  };
  const first = submit(wish("a", 1));
  await clock.advanceUntil(() => arm.count("PUT") === 4);
  const late = submit(wish("late", 1));
  assert.equal((await run(first)).kind, "failed");
  isDown = false;
  assert.equal((await run(late)).kind, "written");
  assert.deepEqual(parts(), ["a-0 1", "late-0 1", "somebody-0 1"]);
});

test("a fresh look that shows what was there before our own write is not believed", async () => {
  const { arm, commit, submit, run, parts } = rig();
  await run(submit(wish("b", 1)));
  const old = structuredClone(arm.read(LB));
  await run(submit(wish("a", 1)));
  let isStale = true;
  arm.interpose = ({ method, url }) => (method === "GET" && url.includes(LB) && isStale ? json(200, old) : undefined);
  const leave = {
    id: LB,
    kind: "list",
    owner: "a",
    fragment: wish("a"),
    merge: mergeList,
    priority: "delete",
  } as const;
  const left = run(commit.submit({ ...leave, afresh: true }));
  assert.equal((await left).kind, "written");
  assert.deepEqual(parts(), ["b-0 1"]);
  // where others have done it, the last sighting is the older one
  isStale = false;
  await run(submit(wish("a", 1)));
  const list = arm.read(LB) as unknown as SharedList;
  const rest = list.properties.parts?.filter(({ owner }) => owner !== "a") ?? [];
  arm.write(LB, { ...list, properties: { ...list.properties, parts: rest } });
  assert.equal((await run(commit.submit({ ...leave, afresh: true }))).kind, "unchanged");
});

test("a fresh look that does not show what we have made is not believed either", async () => {
  const { arm, submit, run } = rig();
  await run(submit(wish("a", 1)));
  arm.interpose = ({ method, url }) => (method === "GET" && url.includes(LB) ? error(404, "NotFound") : undefined);
  assert.equal((await run(submit(wish("a")))).kind, "deleted");
  assert.equal(arm.read(LB), undefined);
});

test("nothing of anyone left deletes the resource, under the ETag of a fresh look", async () => {
  const { arm, submit, run } = rig({ operationMs: 1_000 });
  await run(submit(wish("a", 1)));
  assert.equal((await run(submit(wish("a")))).kind, "deleted");
  assert.equal(arm.read(LB), undefined);
  assert.ok(arm.requests.find(({ method }) => method === "DELETE")?.headers["if-match"] !== undefined);
});

test("a resource that somebody has begun to use is not deleted", async () => {
  const { arm, submit, run, parts, foreign } = rig();
  await run(submit(wish("a", 1)));
  foreign(7);
  assert.equal((await run(submit(wish("a")))).kind, "written");
  assert.deepEqual(parts(), ["foreign 7"]);
  assert.equal(arm.count("DELETE"), 0);
});

test("somebody who begins to use it between look and delete wins", async () => {
  const { arm, submit, run, parts, foreign } = rig();
  await run(submit(wish("a", 1)));
  arm.interpose = ({ method }) => {
    if (method === "DELETE") foreign(7);
    return undefined;
  };
  assert.equal((await run(submit(wish("a")))).kind, "written");
  assert.deepEqual(parts(), ["foreign 7"]);
});

test("a part goes through the lane of its whole, urgent ones first, and the whole is read after it", async () => {
  const { clock, arm, commit, known, submit, run } = rig();
  await run(submit(wish("a", 1)));
  const pool = `${LB}/backendAddressPools/pool`;
  const list = arm.read(LB) as unknown as SharedList;
  arm.write(LB, { ...list, properties: { ...list.properties, backendAddressPools: [{ name: "pool" }] } });
  known.clear();
  const order: string[] = [];
  arm.interpose = (request) => {
    const path = new URL(request.url).pathname;
    if (isPut(request)) order.push(path);
    if (path !== pool) return undefined;
    const whole = arm.read(LB) as unknown as SharedList;
    if (request.headers["if-match"] !== whole.etag) return error(412, "PreconditionFailed");
    arm.write(LB, {
      ...whole,
      properties: { ...whole.properties, backendAddressPools: [JSON.parse(request.body ?? "")] },
    });
    return json(200, { properties: { provisioningState: "Succeeded" } });
  };
  const first = submit(wish("a", 2));
  await clock.advanceUntil(() => order.length === 1);
  const lb = submit(wish("a", 3));
  const seenByMerge: unknown[] = [];
  const drained = commit.submit({
    id: pool,
    kind: "adminState",
    owner: "node",
    fragment: "down",
    merge: (seen: ArmBody | undefined) => {
      seenByMerge.push(seen);
      return { outcome: { kind: "put", body: { ...seen, properties: { down: true } } }, refused: [], warnings: [] };
    },
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
  const { clock, arm, submit, run } = rig({}, { mayWrite: () => isLeader });
  arm.interpose = (request) => {
    if (!isPut(request) || arm.count("PUT") > 1) return undefined;
    clock.setTimer(10_000, () => (isLeader = false));
    return { ...error(429, "SubscriptionRequestsThrottled"), headers: { "retry-after": "30" } };
  };
  const outcome = await run(submit(wish("a", 1)));
  assert.ok(outcome.kind === "failed" && outcome.failure.kind === "fenced");
  assert.equal(arm.count("PUT"), 1);
});

test("closing lets the write in flight end and fails what waits", async () => {
  const { clock, arm, commit, submit, run, parts } = rig({ operationMs: 15_000 });
  const inFlight = submit(wish("a", 1));
  await clock.advanceUntil(() => arm.count("PUT") === 1);
  const waiting = submit(wish("b", 1));
  const closed = commit.close();
  await run(closed);
  assert.deepEqual(kinds(await Promise.all([inFlight, waiting, submit(wish("c", 1))])), [
    "written",
    "failed",
    "failed",
  ]);
  assert.deepEqual(parts(), ["a-0 1"]);
  assert.equal(clock.timers, 0);
});

test("closing cuts every wait short", async () => {
  const { clock, arm, commit, submit, run } = rig();
  arm.interpose = (request) =>
    isPut(request) ? { ...error(429, "SubscriptionRequestsThrottled"), headers: { "retry-after": "300" } } : undefined;
  const outcomes = [submit(wish("a", 1)), submit(wish("b", 1), PIP)];
  await clock.advance(5_000);
  await run(commit.close());
  assert.deepEqual(kinds(await Promise.all(outcomes)), ["failed", "failed"]);
  assert.ok(clock.monotonicMs() < 6_000);
});

for (const provisioningState of ["Failed", "Canceled"]) {
  test(`a reference whose provisioning ended ${provisioningState} is repaired and the write goes on`, async () => {
    const { arm, submit, run } = rig();
    arm.write(PIP, { properties: { provisioningState } });
    arm.interpose = (request) => {
      const isReady = JSON.stringify(arm.read(PIP)).includes("Succeeded");
      if (!isPut(request) || !request.url.includes("/loadBalancers/") || isReady) return undefined;
      const message = `Cannot proceed because resource ${PIP} used by resource ${LB} is not in Succeeded state.`;
      return error(429, "RetryableError", { details: [{ code: "ReferencedResourceNotProvisioned", message }] });
    };
    assert.equal((await run(submit(wish("a", 1)))).kind, "written");
  });
}

test("a reference that never gets ready fails its own writer alone", async () => {
  const { arm, submit, run } = rig();
  arm.interpose = (request) => {
    if (!isPut(request) || !request.body?.includes('"value":666')) return undefined;
    return error(429, "ReferencedResourceNotProvisioned", { message: `${PIP} is not ready` });
  };
  const outcomes = await run(Promise.all([submit(wish("a", 1)), submit(wish("slow", 666)), submit(wish("b", 2))]));
  assert.deepEqual(kinds(outcomes), ["written", "failed", "written"]);
});

test("a missing permission fails everybody at once", async () => {
  const { arm, submit, run } = rig();
  arm.interpose = (request) => (isPut(request) ? error(403, "AuthorizationFailed") : undefined);
  const outcomes = await run(Promise.all(owners(9).map((owner) => submit(wish(owner, 1)))));
  assert.deepEqual(new Set(kinds(outcomes)), new Set(["failed"]));
  assert.equal(arm.count("PUT"), 1);
});

test("a read that fails is never taken for an absent resource", async () => {
  const { arm, submit, run } = rig();
  arm.write(LB, { properties: { parts: wish("somebody", 1).parts } });
  arm.interpose = ({ method }) => (method === "GET" ? error(403, "AuthorizationFailed") : undefined);
  const outcome = await run(submit(wish("a", 1)));
  assert.ok(outcome.kind === "failed" && outcome.failure.kind === "denied");
  assert.equal(arm.count("PUT"), 0);
});

test("different resources are written at the same time", async () => {
  const { clock, submit, run } = rig();
  const ids = owners(20).map((name) => `${GROUP}/publicIPAddresses/${name}`);
  await run(Promise.all(ids.map((id) => submit(wish("a", 1), id))));
  assert.ok(clock.monotonicMs() <= 10 + 2 * 100, "one look and one write of 100 ms each");
});

test("a merge that throws fails its writers and nothing else", async () => {
  const { commit, submit, run, parts } = rig();
  const broken = commit.submit({
    id: LB,
    kind: "broken",
    owner: "a",
    fragment: undefined,
    merge: () => {
      throw new Error("a bug");
    },
    priority: "create",
  });
  const fine = submit(wish("b", 1));
  await assert.rejects(run(broken), /a bug/);
  assert.equal((await run(fine)).kind, "written");
  assert.deepEqual(parts(), ["b-0 1"]);
});

test("each attempt is reported with its size and how it ended", async () => {
  const { attempts, submit, run, foreign } = rig();
  await run(submit(wish("a", 1)));
  foreign(1);
  await run(Promise.all([submit(wish("a", 2)), submit(wish("b", 2))]));
  await settled();
  assert.deepEqual(
    attempts.map(({ size, outcome, bisects }) => [size, outcome, bisects]),
    [
      [1, "written", false],
      [2, "conflict", false],
      [2, "written", false],
    ],
  );
});

test("a drain does not wait for others to gather", async () => {
  const { clock, submit, run } = rig({}, { gatherMs: 60_000 });
  void submit(wish("a", 1));
  await settled();
  const outcome = await run(submit(wish("doomed", 1), LB, "drain"));
  assert.equal(outcome.kind, "written");
  assert.ok(clock.monotonicMs() < 1_000);
});

test("a drain does not sit out the failures of others, only its own", async () => {
  const { clock, arm, submit, run, parts } = rig();
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

test("a part of what failed is written once the whole was made good", async () => {
  const { arm, commit, run } = rig();
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
    commit.submit<ArmBody, undefined>({
      id: pool,
      kind: "adminState",
      owner: "cluster",
      fragment: undefined,
      merge: (seen) => ({
        outcome: { kind: "put", body: { ...seen, properties: { down: true } } },
        refused: [],
        warnings: [],
      }),
      priority: "drain",
    }),
  );
  assert.equal(outcome.kind, "written");
  assert.deepEqual(order, [LB, pool]);
});

test("what is read after a write, but from before it, is no base for the next one", async () => {
  const { arm, submit, run, parts } = rig({ operationMs: 1_000 });
  await run(submit(wish("a", 1)));
  const before = arm.read(LB);
  let isOld = true;
  arm.interpose = ({ method, url }) => {
    const isRead = method === "GET" && new URL(url).pathname === LB;
    if (!isRead || !isOld || arm.read(LB)?.["etag"] === before?.["etag"]) return undefined;
    isOld = false;
    return json(200, before);
  };
  await run(submit(wish("a", 2)));
  assert.equal(isOld, false);
  await run(submit(wish("a", 1)));
  assert.deepEqual(parts(), ["a-0 1"]);
});
