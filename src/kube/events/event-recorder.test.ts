import assert from "node:assert/strict";
import { test } from "node:test";

import { ScriptedWire, type Exchange } from "../../../test/support/scripted-wire.ts";
import { seededRandom, settled, VirtualClock } from "../../../test/support/virtual-clock.ts";
import { EventCorrelator, type ObjectEvent } from "./event-correlator.ts";
import { EventRecorder, type EventOutcome } from "./event-recorder.ts";
import { KubeClient } from "../client/kube-client.ts";

const SERVICE = { apiVersion: "v1", kind: "Service", namespace: "shop", name: "web", uid: "u-1" };
const NODE = { apiVersion: "v1", kind: "Node", name: "n1", uid: "u-2" };

function event(message: string, change: Partial<ObjectEvent> = {}): ObjectEvent {
  return { about: SERVICE, type: "Normal", reason: "EnsuredLoadBalancer", message, ...change };
}

function newRecorder() {
  const clock = new VirtualClock();
  const wire = new ScriptedWire();
  const problems: unknown[] = [];
  const outcomes: Record<EventOutcome, number> = { written: 0, suppressed: 0, given_up: 0 };
  const recorder = new EventRecorder({
    client: new KubeClient({ transport: wire, clock }),
    clock,
    random: seededRandom(1),
    component: "azlb",
    onProblem: (error) => problems.push(error),
    onOutcome: (outcome) => {
      outcomes[outcome] += 1;
    },
  });
  return { clock, wire, recorder, problems, outcomes };
}

const bodyOf = (exchange: Exchange): Record<string, unknown> =>
  JSON.parse(exchange.request.body ?? "") as Record<string, unknown>;

test("an event is stored beside its object, as kubectl shows it", async () => {
  const { wire, recorder } = newRecorder();
  recorder.record(event("all is well"));
  await settled();
  assert.equal(wire.last.request.method, "POST");
  assert.equal(wire.last.url.pathname, "/api/v1/namespaces/shop/events");
  const { metadata, ...rest } = bodyOf(wire.last);
  assert.match((metadata as { name: string }).name, /^web\.[0-9a-f]{16}$/);
  assert.deepEqual(rest, {
    apiVersion: "v1",
    kind: "Event",
    involvedObject: SERVICE,
    type: "Normal",
    reason: "EnsuredLoadBalancer",
    message: "all is well",
    source: { component: "azlb" },
    reportingComponent: "azlb",
    firstTimestamp: "2026-01-01T00:00:00Z",
    lastTimestamp: "2026-01-01T00:00:00Z",
    count: 1,
  });
});

test("events about what has no namespace go to default", async () => {
  const { wire, recorder } = newRecorder();
  recorder.record(event("drained", { about: NODE }));
  await settled();
  assert.equal(wire.last.url.pathname, "/api/v1/namespaces/default/events");
});

test("the same again raises the count of the stored event, all that gathered in one write", async () => {
  const { clock, wire, recorder } = newRecorder();
  recorder.record(event("again"));
  await settled();
  const [creation] = wire.exchanges;
  const { name } = bodyOf(creation!)["metadata"] as { name: string };
  await clock.advance(5_000);
  for (let time = 0; time < 3; time++) recorder.record(event("again"));
  creation!.answer(201, {});
  await settled();
  assert.equal(wire.last.request.method, "PATCH");
  assert.equal(wire.last.request.headers["content-type"], "application/strategic-merge-patch+json");
  assert.equal(wire.last.url.pathname, `/api/v1/namespaces/shop/events/${name}`);
  assert.deepEqual(bodyOf(wire.last), { count: 4, lastTimestamp: "2026-01-01T00:00:05Z", message: "again" });
  wire.last.answer(200, {});
  await recorder.flushed();
  assert.equal(wire.exchanges.length, 2);
});

test("an event that has expired on the server is made again", async () => {
  const { wire, recorder } = newRecorder();
  recorder.record(event("again"));
  await settled();
  wire.last.answer(201, {});
  await recorder.flushed();
  recorder.record(event("again"));
  await settled();
  wire.last.answer(404, { kind: "Status", reason: "NotFound" });
  await settled();
  assert.equal(wire.last.request.method, "POST");
  assert.equal(bodyOf(wire.last)["count"], 2);
});

test("an event that meets a conflict on the server is tried again", async () => {
  const { clock, wire, recorder, problems, outcomes } = newRecorder();
  recorder.record(event("refused"));
  await settled();
  wire.last.answer(409, { kind: "Status", reason: "Conflict" });
  await clock.advance(10_000);
  assert.equal(wire.exchanges.length, 2);
  assert.equal(bodyOf(wire.last)["message"], "refused");
  wire.last.answer(201, {});
  await recorder.flushed();
  assert.deepEqual(outcomes, { written: 1, suppressed: 0, given_up: 0 });
  assert.deepEqual(problems, []);
});

test("a server in trouble is tried a few times; then the event is given up, and the next one told", async () => {
  const { clock, wire, recorder, problems, outcomes } = newRecorder();
  const missed: string[] = [];
  recorder.record(event("first"), () => missed.push("first"));
  recorder.record(event("second"), () => missed.push("second"));
  await settled();
  for (let attempt = 0; attempt < 4; attempt++) {
    wire.last.answer(500, { kind: "Status", reason: "InternalError" });
    await clock.advance(10_000);
  }
  assert.equal(problems.length, 1);
  assert.equal(bodyOf(wire.last)["message"], "second");
  wire.last.answer(201, {});
  await recorder.flushed();
  assert.deepEqual(outcomes, { written: 1, suppressed: 0, given_up: 1 });
  assert.deepEqual(missed, ["first"]);
  assert.equal(clock.timers, 0);
});

test("a refused event is given up at once, and record never fails", async () => {
  const { wire, recorder, problems } = newRecorder();
  recorder.record(event("no"), () => assert.fail("the API server has answered"));
  await settled();
  wire.last.answer(403, { kind: "Status", reason: "Forbidden" });
  await recorder.flushed();
  assert.match(String(problems[0]), /403 Forbidden/);
  assert.equal(wire.exchanges.length, 1);
});

test("an endless message is shortened", async () => {
  const { wire, recorder } = newRecorder();
  recorder.record(event("x".repeat(5_000)));
  await settled();
  assert.equal((bodyOf(wire.last)["message"] as string).length, 1_024);
});

test("what cannot be written does not pile up for ever", async () => {
  const { wire, recorder, outcomes } = newRecorder();
  for (let index = 0; index < 5_000; index++) {
    recorder.record(event("stuck", { about: { ...SERVICE, uid: `u-${index}` } }));
  }
  await settled();
  assert.equal(wire.exchanges.length, 1);
  assert.equal(outcomes.suppressed, 4_000);
});

test("many similar ones become one event", () => {
  const correlator = new EventCorrelator();
  const messages = Array.from({ length: 14 }, (_, index) => `port ${index}`);
  const told = messages.map((message) => correlator.observe(event(message), 0));
  assert.equal(told[9]?.message, "port 9");
  assert.equal(told[13]?.message, "(combined from similar events): port 13");
  assert.equal(told[13], told[10]);
  assert.equal(told[13]?.count, 4);
  const later = correlator.observe(event("port 99"), 600_001);
  assert.equal(later?.message, "port 99");
});

test("one object is told about 25 times at once, then every five minutes; others are not kept waiting", () => {
  const correlator = new EventCorrelator();
  const observe = (nowMs: number, about = SERVICE) => correlator.observe(event("again", { about }), nowMs);
  const told = Array.from({ length: 40 }, () => observe(0)).filter((tally) => tally !== undefined);
  assert.equal(told.length, 25);
  assert.ok(observe(0, { ...SERVICE, uid: "u-3" }));
  assert.equal(observe(299_000), undefined);
  assert.equal(observe(300_000)?.count, 42);
  assert.equal(observe(300_001), undefined);
});
