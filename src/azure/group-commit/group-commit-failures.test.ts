/** What a group commit does when Azure refuses, stumbles, loses answers or fails later: who fails, and what is left. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { commitRig, isPut, kinds, LB, owners } from "../../../test/support/commit-rig.ts";
import { error, json } from "../../../test/support/memory-arm.ts";
import { LIST, listAt, type SharedList, wanted } from "../../../test/support/shared-list.ts";
import { NoAnswerError } from "../arm/transport.ts";

for (const { name, message } of [
  { name: "that Azure names", message: (culprit: string): string => `Rule ${LB}/rules/${culprit}-0 clashes.` },
  { name: "that Azure does not name", message: (): string => "Something clashes." },
]) {
  test(`one invalid fragment among a hundred, ${name}, fails alone and with its own error`, async () => {
    const { arm, submit, run, parts } = commitRig();
    arm.write(LB, { properties: { parts: wanted("theirs", 1).parts } });
    arm.interpose = (request) =>
      isPut(request) && request.body?.includes('"value":666')
        ? error(400, "Clash", { message: message("o37") })
        : undefined;
    const fragments = owners(100).map((owner) => wanted(owner, owner === "o37" ? 666 : 1));
    const outcomes = await run(Promise.all(fragments.map((each) => submit(each))));
    const failed = outcomes.filter(({ kind }) => kind !== "written");
    assert.equal(failed.length, 1);
    assert.ok(outcomes[37]?.kind === "failed" && outcomes[37].failure.code === "Clash");
    assert.equal(parts().length, 100);
    assert.ok(arm.count("PUT") <= (name === "that Azure names" ? 3 : 15), `${arm.count("PUT")} PUTs`);
    assert.equal(arm.count("GET"), 1, "a refusal up front needs no other look");
  });
}

test("several invalid fragments are all found", async () => {
  const { arm, submit, run, parts } = commitRig();
  arm.interpose = (request) =>
    isPut(request) && request.body?.includes('"value":666') ? error(400, "Clash") : undefined;
  const isBad = (at: number): boolean => at % 7 === 3;
  const fragments = owners(30).map((owner, at) => wanted(owner, isBad(at) ? 666 : 1));
  const outcomes = await run(Promise.all(fragments.map((each) => submit(each))));
  assert.deepEqual(
    kinds(outcomes),
    fragments.map((_, at) => (isBad(at) ? "failed" : "written")),
  );
  assert.equal(parts().length, 26);
});

/** Another owner's part is there; a write with 666 in it is accepted, stays as it is, and its operation fails. */
function takesThenFails(arm: ReturnType<typeof commitRig>["arm"]): void {
  arm.write(LB, { properties: { parts: wanted("theirs", 1).parts, provisioningState: "Succeeded" } });
  arm.interpose = (request) => {
    const list = listAt(arm, LB);
    if (!request.url.includes("/operations/") || !JSON.stringify(list).includes('"value":666')) return undefined;
    arm.write(LB, { ...list, properties: { ...list.properties, provisioningState: "Failed" } });
    return json(200, { status: "Failed", error: { code: "SecurityRuleConflict", message: "no", details: [] } });
  };
}

test("an invalid fragment that shows only as the operation's failure is found too, and nothing of it stays", async () => {
  const { arm, submit, run, parts } = commitRig({ operationMs: 0 });
  takesThenFails(arm);
  const outcomes = await run(Promise.all([submit(wanted("a", 1)), submit(wanted("bad", 666)), submit(wanted("b", 2))]));
  assert.deepEqual(kinds(outcomes), ["written", "failed", "written"]);
  await run(submit(wanted("c", 3)));
  assert.deepEqual(parts(), ["a-0 1", "b-0 2", "c-0 3", "theirs-0 1"]);
  assert.equal(listAt(arm, LB).properties.provisioningState, "Succeeded");
});

test("a poison that is alone leaves nothing behind either", async () => {
  const { clock, arm, commit, submit, run, parts } = commitRig({ operationMs: 0 });
  takesThenFails(arm);
  assert.equal((await run(submit(wanted("bad", 666)))).kind, "failed");
  await clock.advanceUntil(() => commit.resourcesAtWork === 0);
  assert.deepEqual(parts(), ["theirs-0 1"]);
});

test("a poison leaves nothing behind, and fails no process, where its removal may not leave at first", async () => {
  const allowed = [true, new Error("the lock cannot be read"), new Error("the lock cannot be read")];
  const mayWrite = async (): Promise<boolean> => {
    const next = allowed.shift() ?? true;
    if (next instanceof Error) throw next;
    return next;
  };
  const { clock, arm, commit, submit, run, parts } = commitRig({ operationMs: 0 }, { mayWrite });
  takesThenFails(arm);
  assert.equal((await run(submit(wanted("bad", 666)))).kind, "failed");
  await clock.advanceUntil(() => commit.resourcesAtWork === 0);
  assert.deepEqual(allowed, []);
  assert.deepEqual(parts(), ["theirs-0 1"]);
});

test("when Azure stumbles the whole batch is tried again, with what came meanwhile", async () => {
  const { clock, arm, submit, run, parts } = commitRig();
  let stumbles = 2;
  arm.interpose = (request) => (isPut(request) && stumbles-- > 0 ? error(503, "ServiceUnavailable") : undefined);
  const first = Promise.all(owners(5).map((owner) => submit(wanted(owner, 1))));
  await clock.advanceUntil(() => arm.count("PUT") === 1);
  const late = submit(wanted("late", 1));
  assert.deepEqual(new Set(kinds([...(await run(first)), await run(late)])), new Set(["written"]));
  assert.equal(parts().length, 6);
  assert.equal(arm.count("PUT"), 3);
});

test("when Azure does not recover all fail with its words", async () => {
  const { clock, arm, submit, run } = commitRig();
  arm.interpose = (request) => (isPut(request) ? error(503, "ServiceUnavailable") : undefined);
  const outcomes = await run(Promise.all(owners(3).map((owner) => submit(wanted(owner, 1)))));
  for (const outcome of outcomes) assert.ok(outcome.kind === "failed" && outcome.failure.code === "ServiceUnavailable");
  assert.equal(arm.count("PUT"), 7);
  assert.ok(clock.monotonicMs() < 60_000);
});

test("while throttled nothing is sent, and what gathers leaves in one write", async () => {
  const { clock, arm, submit, run, parts } = commitRig();
  let refusals = 1;
  arm.interpose = (request) =>
    isPut(request) && refusals-- > 0
      ? { ...error(429, "SubscriptionRequestsThrottled"), headers: { "retry-after": "30" } }
      : undefined;
  const first = submit(wanted("first", 1));
  await clock.advance(1_000);
  const later = owners(20).map((owner) => submit(wanted(owner, 1)));
  await clock.advance(28_000);
  assert.equal(arm.count("PUT"), 1);
  await run(Promise.all([first, ...later]));
  assert.equal(arm.count("PUT"), 2);
  assert.equal(parts().length, 21);
});

test("a write whose answer is lost is looked for before it is sent again", async () => {
  const { arm, submit, run, parts } = commitRig();
  arm.interpose = (request) => {
    if (!isPut(request)) return undefined;
    arm.answer(request);
    throw new NoAnswerError("cut", true);
  };
  assert.equal((await run(submit(wanted("a", 1)))).kind, "unchanged");
  assert.deepEqual(parts(), ["a-0 1"]);
  assert.equal(arm.count("PUT"), 1);
});

test("a lost write whose operation still runs is waited for", async () => {
  const { clock, arm, submit, run } = commitRig();
  arm.interpose = (request) => {
    if (!isPut(request)) return undefined;
    const body = JSON.parse(request.body ?? "") as SharedList;
    arm.write(LB, { ...body, properties: { ...body.properties, provisioningState: "Updating" } });
    clock.setTimer(5_000, () =>
      arm.write(LB, { ...body, properties: { ...body.properties, provisioningState: "Succeeded" } }),
    );
    throw new NoAnswerError("cut", true);
  };
  assert.equal((await run(submit(wanted("a", 1)))).kind, "unchanged");
  assert.ok(clock.monotonicMs() >= 5_000);
});

test("what a failed operation left broken is written once more, although it looks right", async () => {
  const { arm, submit, run } = commitRig({ operationMs: 0 });
  let failures = 1;
  arm.interpose = ({ url }) => {
    if (!url.includes("/operations/") || failures-- <= 0) return undefined;
    const list = listAt(arm, LB);
    arm.write(LB, { ...list, properties: { ...list.properties, provisioningState: "Failed" } });
    return json(200, { status: "Failed", error: { code: "InternalServerError", message: "oh", details: [] } });
  };
  assert.equal((await run(submit(wanted("a", 1)))).kind, "written");
  assert.equal(listAt(arm, LB).properties.provisioningState, "Succeeded");
  assert.equal(arm.count("PUT"), 2);
});

test("what a failure without a culprit left behind stays: its owner may have seen it by now", async () => {
  const { clock, arm, submit, run, parts } = commitRig({ operationMs: 0 });
  arm.write(LB, { properties: { parts: wanted("theirs", 1).parts, provisioningState: "Succeeded" } });
  let [failures, isDown] = [1, true];
  arm.interpose = (request) => {
    if (isPut(request) && failures === 0 && isDown) throw new NoAnswerError("cut", true);
    if (!request.url.includes("/operations/") || failures-- <= 0) return undefined;
    const list = listAt(arm, LB);
    arm.write(LB, { ...list, properties: { ...list.properties, provisioningState: "Failed" } });
    return json(200, { status: "Failed", error: { code: "InternalServerError", message: "oh", details: [] } });
  };
  const first = submit(wanted("a", 1));
  await clock.advanceUntil(() => arm.count("PUT") === 4);
  const late = submit(wanted("late", 1));
  assert.equal((await run(first)).kind, "failed");
  isDown = false;
  assert.equal((await run(late)).kind, "written");
  assert.deepEqual(parts(), ["a-0 1", "late-0 1", "theirs-0 1"]);
});

test("a fresh look that shows what was there before our own write is not believed", async () => {
  const { arm, commit, submit, run, parts } = commitRig();
  await run(submit(wanted("b", 1)));
  const old = structuredClone(arm.read(LB));
  await run(submit(wanted("a", 1)));
  let isStale = true;
  arm.interpose = ({ method, url }) => (method === "GET" && url.includes(LB) && isStale ? json(200, old) : undefined);
  const leave = {
    id: LB,
    kind: LIST,
    dedupKey: "a",
    fragment: wanted("a"),
    priority: "delete",
  } as const;
  const left = run(commit.submit({ ...leave, readFirst: true }));
  assert.equal((await left).kind, "written");
  assert.deepEqual(parts(), ["b-0 1"]);
  // where others have done it, the last sighting is the older one
  isStale = false;
  await run(submit(wanted("a", 1)));
  const list = listAt(arm, LB);
  const rest = list.properties.parts?.filter(({ owner }) => owner !== "a") ?? [];
  arm.write(LB, { ...list, properties: { ...list.properties, parts: rest } });
  assert.equal((await run(commit.submit({ ...leave, readFirst: true }))).kind, "unchanged");
});

test("a fresh look that does not show what we have made is not believed either", async () => {
  const { arm, submit, run } = commitRig();
  await run(submit(wanted("a", 1)));
  arm.interpose = ({ method, url }) => (method === "GET" && url.includes(LB) ? error(404, "NotFound") : undefined);
  assert.equal((await run(submit(wanted("a")))).kind, "deleted");
  assert.equal(arm.read(LB), undefined);
});

test("what was written a moment ago is there, whatever reads that lag behind show; then they are believed", async () => {
  const isRecent = { now: true };
  const { arm, submit, run, known, clock } = commitRig({}, { wasThere: () => true, isJustWritten: () => isRecent.now });
  arm.write(LB, { properties: { parts: wanted("a", 1).parts } });
  const lagging = (): ReturnType<NonNullable<typeof arm.interpose>> => error(404, "ResourceNotFound");
  arm.interpose = (request) => (request.method === "GET" && clock.monotonicMs() < 3_000 ? lagging() : undefined);
  const left = await run(submit(wanted("a")));
  assert.equal(left.kind, "deleted");
  assert.equal(arm.read(LB), undefined, "it was not taken for gone");
  isRecent.now = false;
  known.clear();
  assert.equal((await run(submit(wanted("a")))).kind, "unchanged", "there is nothing to leave");
});
