import assert from "node:assert/strict";
import { test } from "node:test";

import { armRig } from "../../../test/support/arm-rig.ts";
import { error, json, MemoryArm, type MemoryArmOptions } from "../../../test/support/memory-arm.ts";
import type { CallReport } from "./arm-exchange.ts";
import type { Tracer } from "../../core/util/tracer.ts";
import { ArmError, type ArmFailure } from "./failures.ts";
import { NoAnswerError } from "./transport.ts";

const GROUP = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network";
const LB = `${GROUP}/loadBalancers/lb`;
const CREATE = { priority: "create" } as const;

function rig(options: Omit<MemoryArmOptions, "clock"> = {}, tracer?: Tracer) {
  const calls: CallReport[] = [];
  const refused: string[] = [];
  let tokens = 0;
  const rigged = armRig(options, {
    tokens: { token: async () => `token-${tokens}`, refused: (token) => void (refused.push(token), tokens++) },
    onCall: (call) => calls.push(call),
    tracer,
  });
  const { run } = rigged;
  const failing = async (work: Promise<unknown>): Promise<ArmFailure> => {
    const thrown: unknown = await run(work).then(
      () => assert.fail("should have failed"),
      (reason: unknown) => reason,
    );
    if (!(thrown instanceof ArmError)) throw thrown;
    return thrown.failure;
  };
  return { ...rigged, calls, refused, failing };
}

test("a body comes back as it is, unknown fields included, and goes out as it is", async () => {
  const { arm, client, run } = rig();
  arm.write(LB, { future: { a: [1] }, properties: { more: true } });
  const seen = await run(client.get<Record<string, unknown>>(LB, CREATE));
  assert.deepEqual(seen["future"], { a: [1] });
  await run(client.put(LB, seen, { ...CREATE, ifMatch: seen["etag"] as string }));
  assert.deepEqual(arm.read(LB)?.["future"], { a: [1] });
  assert.equal(arm.requests.at(-1)?.headers["if-match"], seen["etag"]);
});

test("a PUT leaves out what Azure alone writes, whichever way it is sent", async () => {
  const { arm, client, run } = rig();
  const probe = { name: "p", id: `${LB}/probes/p`, etag: "W/1", properties: { port: 80, loadBalancingRules: [] } };
  const body = { id: LB, name: "lb", etag: "W/1", properties: { provisioningState: "Succeeded", probes: [probe] } };
  await run(client.put(LB, body, CREATE));
  await run(client.putUnread(LB, body, CREATE));
  const puts = arm.requests.filter(({ method }) => method === "PUT").map((request) => request.body);
  const sent = JSON.stringify({
    id: LB,
    name: "lb",
    properties: { probes: [{ name: "p", properties: { port: 80 } }] },
  });
  assert.deepEqual(puts, [sent, sent]);
});

test("absent is null for find and an error for get; a missing group is an error for both", async () => {
  const { arm, client, run, failing } = rig();
  assert.equal(await run(client.find(LB, CREATE)), null);
  assert.equal((await failing(client.get(LB, CREATE))).kind, "notFound");
  arm.interpose = () => error(404, "ResourceGroupNotFound");
  assert.equal((await failing(client.find(LB, CREATE))).kind, "notFound");
});

test("a list has all its pages, asked for as Azure gave them", async () => {
  const { arm, client, run } = rig();
  const next = `${MemoryArm.url}${GROUP}/loadBalancers?api-version=2020-01-01&$skiptoken=a%20b`;
  arm.interpose = ({ url }) =>
    url === next ? json(200, { value: [{ name: "two" }] }) : json(200, { value: [{ name: "one" }], nextLink: next });
  assert.deepEqual(await run(client.list(`${GROUP}/loadBalancers`, CREATE)), [{ name: "one" }, { name: "two" }]);
});

test("a page that fails fails the list", async () => {
  const { arm, client, failing } = rig();
  arm.interpose = ({ url }) =>
    url.includes("skiptoken")
      ? error(403, "AuthorizationFailed")
      : json(200, { value: [{}], nextLink: `${MemoryArm.url}${GROUP}/loadBalancers?$skiptoken=x` });
  assert.equal((await failing(client.list(`${GROUP}/loadBalancers`, CREATE))).kind, "denied");
});

test("the token goes to no server but the resource manager", async () => {
  const { arm, client, failing } = rig();
  arm.interpose = () => json(200, { value: [], nextLink: "https://elsewhere.test/x" });
  assert.match((await failing(client.list(`${GROUP}/loadBalancers`, CREATE))).message, /elsewhere\.test/);
  assert.ok(arm.requests.every(({ url }) => url.startsWith(MemoryArm.url)));
});

test("a write that has succeeded at once is not polled, even where there is an address to poll", async () => {
  const { arm, client, run } = rig();
  arm.interpose = (request) => {
    const answer = arm.answer(request);
    return { ...answer, headers: { "azure-asyncoperation": `${MemoryArm.url}/operations/1` } };
  };
  const body = await run(client.put<{ etag: string }>(LB, { properties: {} }, CREATE));
  assert.equal(body.etag, arm.read(LB)?.["etag"]);
  assert.equal(arm.requests.length, 1);
});

test("a longer write is followed to its end and read again, for the ETag that holds then", async () => {
  const { arm, client, run } = rig({ operationMs: 3_000 });
  const body = await run(client.put<{ etag: string; properties: object }>(LB, { properties: {} }, CREATE));
  assert.deepEqual(body.properties, { provisioningState: "Succeeded" });
  assert.equal(body.etag, arm.read(LB)?.["etag"]);
});

test("a write that cannot be read afterwards may have had its effect", async () => {
  const { arm, client, failing } = rig();
  let isWritten = false;
  arm.interpose = ({ method, url }) => {
    if (method === "PUT") isWritten = true;
    const isRead = method === "GET" && isWritten && !url.includes("/operations/");
    return isRead ? error(404, "ResourceNotFound") : undefined;
  };
  const failure = await failing(client.put(`${LB}/backendAddressPools/pool`, {}, { ...CREATE, thenRead: LB }));
  assert.equal(failure.kind, "transient");
  assert.ok("maybeApplied" in failure && failure.maybeApplied);
});

test("what a part's write is followed by is what was asked for", async () => {
  const { arm, client, run } = rig();
  arm.write(LB, { properties: { whole: true } });
  const body = await run(
    client.put<{ properties: object }>(`${LB}/backendAddressPools/p`, {}, { ...CREATE, thenRead: LB }),
  );
  assert.deepEqual(body.properties, { whole: true });
});

test("an operation that has run as long as suggested is polled as suggested", async () => {
  const { clock, arm, client, calls, run } = rig({ operationMs: 15_000 });
  arm.interpose = (request) => {
    const answer = arm.answer(request);
    return request.url.includes("/operations/") ? { ...answer, headers: { "retry-after": "10" } } : undefined;
  };
  await run(client.put(LB, { properties: {} }, CREATE));
  assert.ok(clock.monotonicMs() >= 20_000);
  const polls = calls.filter(({ verb }) => verb === "poll").length;
  assert.ok(polls <= 20, `${polls} polls`);
});

test("an operation that is over soon is not waited for as long as is suggested", async () => {
  const { clock, arm, client, run } = rig({ operationMs: 600 });
  arm.interpose = (request) => {
    const answer = arm.answer(request);
    return request.url.includes("/operations/") ? { ...answer, headers: { "retry-after": "10" } } : undefined;
  };
  await run(client.put(LB, { properties: {} }, CREATE));
  assert.ok(clock.monotonicMs() < 2_000);
});

test("the first poll learns to come soon after the operation is over, and seldom before", async () => {
  const { clock, arm, client, calls, run } = rig();
  let startedMs = 0;
  arm.interpose = (request) => {
    if (request.method === "PUT") {
      startedMs = clock.monotonicMs();
      const headers = { "azure-asyncoperation": `${MemoryArm.url}/operations/x` };
      return json(200, { properties: { provisioningState: "Updating" } }, headers);
    }
    if (!request.url.includes("/operations/")) return json(200, {});
    const isOver = clock.monotonicMs() - startedMs >= 1_000;
    return json(200, { status: isOver ? "Succeeded" : "InProgress" }, { "retry-after": "10" });
  };
  const write30 = async (): Promise<void> => {
    for (let write = 0; write < 30; write++) await run(client.put(LB, {}, CREATE));
  };
  await write30();
  const [learnedMs, learned] = [clock.monotonicMs(), calls.length];
  await write30();
  const early = calls.slice(learned).filter(({ verb }) => verb === "poll").length - 30;
  assert.ok(early <= 10, `${early} polls came too early in 30 writes`);
  const lateMs = (clock.monotonicMs() - learnedMs) / 30 - 1_000;
  assert.ok(lateMs < 150, `${lateMs} ms late`);
});

test("an operation that fails or is cancelled gives its reason", async () => {
  const { arm, client, failing } = rig({ operationMs: 0 });
  arm.interpose = ({ url }) =>
    url.includes("/operations/")
      ? json(200, {
          status: "Canceled",
          error: {
            code: "Canceled",
            message: "Operation was canceled.",
            details: [{ code: "CanceledAndSupersededDueToAnotherOperation", message: "by another" }],
          },
        })
      : undefined;
  const failure = await failing(client.put(LB, { properties: {} }, CREATE));
  assert.deepEqual([failure.kind, failure.message], ["superseded", "Operation was canceled. by another"]);
});

test("an operation without an address is followed by the resource's own state", async () => {
  const { arm, client, run } = rig();
  let reads = 0;
  arm.interpose = ({ method }) =>
    json(200, { properties: { provisioningState: method === "GET" && ++reads > 2 ? "Succeeded" : "Updating" } });
  await run(client.put(LB, {}, CREATE));
  assert.equal(reads, 4, "two while it runs, one that sees the end, one for the body");
});

test("an operation with a Location only is over when that no longer says 202", async () => {
  const { arm, client, run } = rig();
  let polls = 0;
  arm.interpose = ({ method }) => {
    if (method === "DELETE") return { status: 202, headers: { location: `${MemoryArm.url}/results/1` }, body: "" };
    return { status: ++polls < 3 ? 202 : 200, headers: {}, body: "" };
  };
  await run(client.delete(LB, CREATE));
  assert.equal(polls, 3);
});

test("polls that stumble do not end the operation", async () => {
  const { arm, client, run } = rig({ operationMs: 1_000 });
  let stumbles = 0;
  arm.interpose = ({ url }) => {
    if (!url.includes("/operations/") || stumbles >= 4) return undefined;
    stumbles++;
    if (stumbles % 2 === 0) throw new NoAnswerError("cut", true);
    return error(503, "ServiceUnavailable");
  };
  await run(client.put(LB, { properties: {} }, CREATE));
  assert.equal(stumbles, 4);
});

test("an operation that Azure does not know any more may have had its effect", async () => {
  const { arm, client, failing } = rig({ operationMs: 1_000 });
  arm.interpose = ({ url }) => (url.includes("/operations/") ? error(404, "NotFound") : undefined);
  const failure = await failing(client.put(LB, { properties: {} }, CREATE));
  assert.ok(failure.kind === "transient" && failure.maybeApplied);
});

test("an operation that never ends is given up", async () => {
  const { client, failing } = rig({ operationMs: Number.POSITIVE_INFINITY });
  const failure = await failing(client.put(LB, { properties: {} }, CREATE));
  assert.match(failure.message, /still runs after 900 s/);
});

test("deleting what is gone is done; deleting what is held is an error", async () => {
  const { arm, client, run, failing } = rig({ operationMs: 1_000 });
  await run(client.delete(LB, CREATE));
  arm.write(LB, { properties: {} });
  await run(client.delete(LB, CREATE));
  assert.equal(arm.read(LB), undefined);
  arm.interpose = () => error(404, "ParentResourceNotFound");
  await run(client.delete(LB, CREATE));
  arm.interpose = () => error(400, "PublicIPAddressCannotBeDeleted");
  assert.equal((await failing(client.delete(LB, CREATE))).kind, "inUse");
});

test("an action's result is read where it is said to be", async () => {
  const { arm, client, run } = rig();
  arm.interpose = ({ method, url }) => {
    if (method === "POST") {
      const headers = { "azure-asyncoperation": `${MemoryArm.url}/o/1`, location: `${MemoryArm.url}/results/1` };
      return { status: 202, headers, body: "" };
    }
    return url.includes("/o/") ? json(200, { status: "Succeeded" }) : json(200, { up: 2 });
  };
  assert.deepEqual(await run(client.post(`${LB}/loadBalancingRules/r/health`, {}, CREATE)), { up: 2 });
});

test("reads are repeated when Azure stumbles, writes are not", async () => {
  const { arm, client, run, failing } = rig();
  arm.write(LB, { properties: {} });
  let stumbles = 2;
  arm.interpose = () => (stumbles-- > 0 ? error(500, "InternalServerError") : undefined);
  await run(client.get(LB, CREATE));
  stumbles = 1;
  assert.equal((await failing(client.put(LB, {}, CREATE))).kind, "transient");
  assert.equal(arm.count("PUT"), 1);
});

test("a throttled read waits until it may ask again, and every other call with it", async () => {
  const { clock, arm, client, run } = rig();
  arm.write(LB, { properties: {} });
  let refusals = 1;
  arm.interpose = () =>
    refusals-- > 0 ? { ...error(429, "SubscriptionRequestsThrottled"), headers: { "retry-after": "17" } } : undefined;
  const first = client.get(LB, CREATE);
  await clock.advance(1);
  const second = client.get(LB, { priority: "drain" });
  await run(Promise.all([first, second]));
  assert.equal(arm.requests.length, 3);
  assert.equal(clock.monotonicMs(), 17_000);
});

test("a refused token is replaced once", async () => {
  const { arm, client, refused, run, failing } = rig();
  arm.write(LB, { properties: {} });
  arm.interpose = ({ headers }) =>
    headers["authorization"] === "Bearer token-0" ? error(401, "ExpiredAuthenticationToken") : undefined;
  await run(client.get(LB, CREATE));
  assert.deepEqual(refused, ["token-0"]);
  arm.interpose = () => error(401, "InvalidAuthenticationToken");
  assert.equal((await failing(client.get(LB, CREATE))).kind, "unauthenticated");
  assert.equal(refused.length, 2);
});

test("network resources of another tenant are asked for as who we are there, and each shows the other's token", async () => {
  const source = (name: string) => ({ token: async () => name, refused: () => {} });
  const { arm, client, run } = armRig(
    {},
    {
      tokens: source("home"),
      network: { subscriptionId: "S", tokens: source("network") },
    },
  );
  arm.write(LB, { properties: {} });
  const elsewhere = LB.replace("/s/", "/compute/");
  arm.write(elsewhere, { properties: {} });
  await run(Promise.all([client.get(LB, CREATE), client.get(elsewhere, CREATE)]));
  const shown = arm.requests.map(({ headers }) => [headers["authorization"], headers["x-ms-authorization-auxiliary"]]);
  assert.deepEqual(shown, [
    ["Bearer network", "Bearer home"],
    ["Bearer home", "Bearer network"],
  ]);
});

test("a cloud without the newest api-version is asked with an older one from then on", async () => {
  const { arm, client, run } = rig();
  arm.write(LB, { properties: {} });
  arm.interpose = ({ url }) => (url.includes("2026-01-01") ? error(400, "NoRegisteredProviderFound") : undefined);
  await run(client.get(LB, CREATE));
  await run(client.get(LB, CREATE));
  assert.deepEqual(
    arm.requests.map(({ url }) => new URL(url).searchParams.get("api-version")),
    ["2026-01-01", "2025-05-01", "2025-05-01"],
  );
});

test("every request has an id of its own", async () => {
  const { arm, client, run } = rig();
  for (let write = 0; write < 5; write++) await run(client.put(LB, { properties: {} }, CREATE));
  const ids = arm.requests.map(({ headers }) => headers["x-ms-client-request-id"]);
  assert.equal(new Set(ids).size, 5);
  assert.match(ids[0] ?? "", /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/);
});

test("each call is reported with its kind, its outcome and how long it took", async () => {
  const { clock, arm, client, calls, run, failing } = rig({ replyMs: 40 });
  await run(client.put(LB, { properties: {} }, CREATE));
  arm.interpose = () => error(412, "PreconditionFailed");
  await failing(client.put(LB, {}, { priority: "drain", ifMatch: "x" }));
  assert.deepEqual(
    calls.map(({ verb, type, status, failure, durationMs, priority }) => [
      verb,
      type,
      status,
      failure?.kind,
      durationMs,
      priority,
    ]),
    [
      ["put", "Microsoft.Network/loadBalancers", 201, undefined, 40, "create"],
      ["put", "Microsoft.Network/loadBalancers", 412, "conflict", 40, "drain"],
    ],
  );
  assert.equal(clock.timers, 0);
});

test("an aborted call ends and leaves nothing behind", async () => {
  const { clock, client } = rig({ operationMs: Number.POSITIVE_INFINITY });
  const abort = new AbortController();
  const put = client.put(LB, { properties: {} }, { ...CREATE, signal: abort.signal });
  const ended = assert.rejects(put, /enough/);
  await clock.advance(5_000);
  abort.abort(new Error("enough"));
  await ended;
  assert.equal(clock.timers, 0);
});

test("each call that leaves is a span, on behalf of those who asked for it", async () => {
  const spans: Record<string, unknown>[] = [];
  const start: Tracer["start"] = (name, { on, isRequest }) => {
    const made: Record<string, unknown> = { name, on, isRequest };
    spans.push(made);
    const end = (problem?: string): void => void Object.assign(made, { isOver: true, problem });
    return { event: () => {}, set: (attributes) => void Object.assign(made, attributes), end };
  };
  const { arm, client, run } = rig({}, { start });
  const asker = start("asker", {});
  const options = { priority: "drain", spans: [asker] } as const;
  arm.write(LB, { properties: {} });
  await run(client.put(LB, { properties: {} }, options));
  arm.interpose = () => Promise.reject(new NoAnswerError("cut", true));
  await run(assert.rejects(client.put(LB, {}, options)));
  const guard = (): void => assert.fail("held back");
  await run(assert.rejects(client.put(LB, {}, { ...options, guard })));
  const [, written, lost, ...others] = spans;
  const put = { name: "PUT Microsoft.Network/loadBalancers", on: [asker], isRequest: true, isOver: true };
  const fields = (span: Record<string, unknown> | undefined, ...more: string[]): unknown =>
    Object.fromEntries([...Object.keys(put), ...more].map((key) => [key, span?.[key]]));
  assert.deepEqual(fields(written, "problem", "azlb.resource.id"), {
    ...put,
    problem: undefined,
    "azlb.resource.id": LB,
  });
  assert.deepEqual(fields(lost, "error.type"), { ...put, "error.type": "transient" });
  assert.deepEqual(
    others.filter(({ name }) => name === put.name),
    [],
    "what does not leave is none",
  );
});
