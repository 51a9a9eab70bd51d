import assert from "node:assert/strict";
import { test } from "node:test";

import { ScriptedWire } from "../../../test/support/scripted-wire.ts";
import { settled, VirtualClock } from "../../../test/support/virtual-clock.ts";
import { KubeClient, type RequestSample } from "./kube-client.ts";
import { KubeFailure, retryAfterMsOf, type KubeFailureKind } from "./kube-failure.ts";
import { resourcePath, SERVICES, ENDPOINT_SLICES, NODES, placeOfKey } from "./resources.ts";

function newClient() {
  const clock = new VirtualClock();
  const wire = new ScriptedWire();
  const samples: RequestSample[] = [];
  const client = new KubeClient({ transport: wire, clock, onRequest: (sample) => samples.push(sample) });
  return { clock, wire, client, samples };
}

const PLACE = { namespace: "shop", name: "web" };
const CIRCUMSTANCES: readonly [status: number, body: unknown, kind: KubeFailureKind][] = [
  [400, { reason: "BadRequest" }, "invalid"],
  [401, { reason: "Unauthorized" }, "unauthorized"],
  [403, { reason: "Forbidden" }, "forbidden"],
  [404, { reason: "NotFound" }, "notFound"],
  [405, { reason: "MethodNotAllowed" }, "unsupported"],
  [409, { reason: "AlreadyExists" }, "alreadyExists"],
  [409, { reason: "Conflict" }, "conflict"],
  [410, { reason: "Expired" }, "gone"],
  [413, { reason: "RequestEntityTooLarge" }, "invalid"],
  [415, { reason: "UnsupportedMediaType" }, "unsupported"],
  [422, { reason: "Invalid", details: { causes: [{ field: "spec.ports" }] } }, "invalid"],
  [422, { reason: "Invalid", details: { causes: [{ field: "metadata.uid" }] } }, "conflict"],
  [429, { reason: "TooManyRequests" }, "throttled"],
  [500, { reason: "InternalError" }, "transient"],
  [504, { reason: "Timeout", details: { retryAfterSeconds: 1 } }, "transient"],
  [302, {}, "transient"],
];

for (const [status, body, kind] of CIRCUMSTANCES) {
  test(`${status} ${JSON.stringify(body)} is ${kind}`, async () => {
    const { wire, client } = newClient();
    const call = client.get(SERVICES, PLACE);
    wire.last.answer(status, { kind: "Status", ...(body as object) });
    await assert.rejects(
      call,
      (error) => error instanceof KubeFailure && error.kind === kind && error.status === status,
    );
  });
}

test("a failure says what was asked and what was answered, also when the answer is no Status", async () => {
  const { wire, client } = newClient();
  const call = client.get(SERVICES, PLACE);
  wire.last.open(502).send("<html>Bad gateway</html>").end();
  await assert.rejects(
    call,
    /^KubeFailure: GET \/api\/v1\/namespaces\/shop\/services\/web: 502 <html>Bad gateway<\/html>$/,
  );
});

test("a connection that breaks, before or within the answer, is transient", async () => {
  const { wire, client } = newClient();
  const before = client.get(SERVICES, PLACE);
  wire.last.fail(
    new AggregateError([new Error("connect ECONNREFUSED ::1"), new Error("connect ECONNREFUSED 127.0.0.1")]),
  );
  await assert.rejects(before, /services\/web: connect ECONNREFUSED ::1, connect ECONNREFUSED 127\.0\.0\.1$/);
  const within = client.get(SERVICES, PLACE);
  wire.last.open().send('{"metadata":');
  await settled();
  wire.last.fail(new Error("other side closed"));
  await assert.rejects(within, (error) => error instanceof KubeFailure && error.kind === "transient");
});

test("an answer that is no JSON is transient", async () => {
  const { wire, client } = newClient();
  const call = client.get(SERVICES, PLACE);
  wire.last.open().send("welcome to the hotel network").end();
  await assert.rejects(call, (error) => error instanceof KubeFailure && error.kind === "transient");
});

test("every call ends within its deadline, and its connection with it", async () => {
  for (const opened of [false, true]) {
    const { clock, wire, client, samples } = newClient();
    const call = client.get(SERVICES, PLACE);
    if (opened) wire.last.open().send("{");
    const ended = assert.rejects(call, /no full answer within 30000 ms/);
    await clock.advance(30_000);
    await ended;
    assert.deepEqual(wire.open, []);
    assert.equal(clock.timers, 0);
    assert.deepEqual(samples, [{ method: "GET", plural: "services", status: opened ? 200 : 0, durationMs: 30_000 }]);
  }
});

test("a caller who gives up gets their own reason", async () => {
  const { clock, wire, client } = newClient();
  const stop = new AbortController();
  const call = client.get(SERVICES, PLACE, stop.signal);
  const mine = new Error("we stop");
  const ended = assert.rejects(call, mine);
  stop.abort(mine);
  await ended;
  assert.deepEqual(wire.open, []);
  assert.equal(clock.timers, 0);
});

test("Retry-After is seconds or a date", () => {
  const nowMs = Date.parse("2026-01-01T00:00:00Z");
  assert.equal(retryAfterMsOf("7", nowMs), 7_000);
  assert.equal(retryAfterMsOf("Thu, 01 Jan 2026 00:00:20 GMT", nowMs), 20_000);
  assert.equal(retryAfterMsOf("Wed, 31 Dec 2025 00:00:00 GMT", nowMs), 0);
  assert.equal(retryAfterMsOf("soon", nowMs), undefined);
  assert.equal(retryAfterMsOf(undefined, nowMs), undefined);
});

test("paths and keys", () => {
  assert.equal(resourcePath(SERVICES, {}), "/api/v1/services");
  assert.equal(resourcePath(NODES, { namespace: "ignored", name: "n" }), "/api/v1/nodes/n");
  assert.equal(
    resourcePath(ENDPOINT_SLICES, { namespace: "a b", name: "x/y", subresource: "status" }),
    "/apis/discovery.k8s.io/v1/namespaces/a%20b/endpointslices/x%2Fy/status",
  );
  assert.deepEqual(placeOfKey("shop/web"), { namespace: "shop", name: "web" });
  assert.deepEqual(placeOfKey("node-1"), { name: "node-1" });
});
