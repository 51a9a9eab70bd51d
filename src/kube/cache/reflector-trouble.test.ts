/** The reflector against a scripted wire, under virtual time: what each way of failing leads to. */
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  thing,
  added,
  modified,
  bookmark,
  listEnd,
  failureEvent,
  startedReflector,
  syncedReflector,
} from "../../../test/support/reflector-rig.ts";
import { settled } from "../../../test/support/virtual-clock.ts";

test("a watch that ends in good order is resumed at once, after the last thing heard", async (t) => {
  const { clock, wire, takeChanges } = await syncedReflector(t);
  await clock.advance(1_000);
  wire.last.line(bookmark(15)).end();
  await clock.advance(0);
  assert.equal(wire.exchanges.length, 2);
  assert.equal(wire.last.url.searchParams.get("resourceVersion"), "15");
  wire.last.open().line(modified(thing("a", 16)));
  await settled();
  assert.deepEqual(takeChanges(), ["updated a@1 -> a@16"]);
});

test("a broken connection is resumed after a pause, and what is told again is not told on", async (t) => {
  const { clock, wire, problems, takeChanges } = await syncedReflector(t);
  wire.last.line(modified(thing("a", 11)));
  await settled();
  wire.last.fail(new Error("ECONNRESET"));
  await settled();
  assert.equal(wire.exchanges.length, 1, "not at once");
  await clock.advance(200);
  assert.equal(wire.last.url.searchParams.get("resourceVersion"), "11");
  assert.match(String(problems[0]?.error), /watch services.*ECONNRESET/);
  wire.last
    .open()
    .line(modified(thing("a", 11)))
    .line(modified(thing("a", 12)));
  await settled();
  assert.deepEqual(takeChanges(), ["updated a@1 -> a@11", "updated a@11 -> a@12"]);
});

test("it says when it follows again, once, however often it failed before", async (t) => {
  const { clock, wire, problems, recoveries } = await syncedReflector(t);
  assert.equal(recoveries(), 0, "the first connection recovers nothing");
  for (let times = 0; times < 3; times++) {
    wire.last.fail(new Error("ECONNREFUSED"));
    await clock.advance(30_000);
  }
  assert.deepEqual([problems.length, recoveries()], [3, 0]);
  wire.last.open();
  await settled();
  assert.equal(recoveries(), 1);
  wire.last.line(modified(thing("a", 11)));
  await settled();
  assert.equal(recoveries(), 1);
});

test("half a line at the end of a broken connection is not a change", async (t) => {
  const { clock, wire, takeChanges } = await syncedReflector(t);
  wire.last.send(JSON.stringify(modified(thing("a", 11))).slice(0, 40)).end();
  await clock.advance(1_000);
  assert.equal(wire.last.url.searchParams.get("resourceVersion"), "10");
  assert.deepEqual(takeChanges(), []);
});

for (const form of ["an ERROR event", "an HTTP status"]) {
  test(`410 as ${form} lists anew and tells what changed meanwhile, also who took a name`, async (t) => {
    const { clock, wire, takeChanges, names, reflector } = await syncedReflector(t);
    if (form === "an ERROR event") {
      wire.last.line(failureEvent(410, "Expired")).end();
    } else {
      await clock.advance(1_000);
      wire.last.end();
      await clock.advance(0);
      wire.last.answer(410, { kind: "Status", code: 410, reason: "Expired" });
    }
    await clock.advance(0);
    assert.equal(wire.last.url.searchParams.get("sendInitialEvents"), "true");
    wire.last
      .open()
      .line(added(thing("a", 20, { uid: "another" })))
      .line(added(thing("c", 21)));
    await settled();
    assert.deepEqual(names(), ["n/a", "n/b", "n/c"], "b may still come");
    wire.last.line(listEnd(30));
    await settled();
    assert.deepEqual(takeChanges(), ["deleted a@1", "added a@20", "added c@21", "deleted b@2"]);
    assert.equal(reflector.stats().lists, 2);
    assert.equal(reflector.stats().expired, 1);
  });
}

test("a new list that breaks off deletes nothing", async (t) => {
  const { clock, wire, takeChanges, names } = await syncedReflector(t);
  wire.last.line(failureEvent(410, "Expired")).end();
  await clock.advance(0);
  wire.last.open().line(added(thing("a", 1)));
  await settled();
  wire.last.fail(new Error("cut"));
  await settled();
  assert.deepEqual(names(), ["n/a", "n/b"]);
  await clock.advance(1_000);
  assert.equal(wire.last.url.searchParams.get("watch"), null, "then it lists by pages");
  wire.last.answer(200, { metadata: { resourceVersion: "40" }, items: [thing("b", 2)] });
  await settled();
  assert.deepEqual(takeChanges(), ["deleted a@1"]);
});

test("endless 410s do not become a storm of lists, not even with news between them", async (t) => {
  const { clock, wire } = await syncedReflector(t);
  const before = wire.exchanges.length;
  let version = 20;
  for (const endMs = clock.monotonicMs() + 600_000; clock.monotonicMs() < endMs; await clock.advance(50)) {
    for (const exchange of wire.open) {
      version += 2;
      exchange
        .open()
        .line(listEnd(version))
        .line(bookmark(version + 1))
        .line(failureEvent(410, "Expired"))
        .end();
    }
  }
  const lists = wire.exchanges.length - before;
  assert.ok(lists > 10 && lists < 60, `${lists} lists in ten minutes`);
});

test("a server that ends every watch at once is not hammered", async (t) => {
  const { clock, wire } = await syncedReflector(t);
  wire.last.end();
  const before = wire.exchanges.length;
  for (const endMs = clock.monotonicMs() + 600_000; clock.monotonicMs() < endMs; await clock.advance(50)) {
    for (const exchange of wire.open) exchange.open().end();
  }
  const watches = wire.exchanges.length - before;
  assert.ok(watches > 10 && watches < 60, `${watches} watches in ten minutes`);
});

test("a server that has news and ends every watch at once is not hammered either", async (t) => {
  const { clock, wire } = await syncedReflector(t);
  const before = wire.exchanges.length;
  let version = 20;
  for (const endMs = clock.monotonicMs() + 60_000; clock.monotonicMs() < endMs; await clock.advance(10)) {
    for (const exchange of wire.open) exchange.open().line(bookmark(++version)).end();
  }
  const watches = wire.exchanges.length - before;
  assert.ok(watches > 100 && watches < 700, `${watches} watches in a minute`);
});

test("an unreachable server is asked for ever, at most twice a minute in the end", async (t) => {
  const { clock, wire, reflector } = await startedReflector(t);
  for (const endMs = clock.monotonicMs() + 3_600_000; clock.monotonicMs() < endMs; await clock.advance(1_000)) {
    for (const exchange of wire.open) exchange.fail(new Error("ECONNREFUSED"));
  }
  assert.ok(wire.exchanges.length > 110 && wire.exchanges.length < 260, `${wire.exchanges.length} in an hour`);
  let synced = false;
  void reflector.synced.then(() => {
    synced = true;
  });
  await clock.advanceUntil(() => {
    const [exchange] = wire.open;
    if (exchange?.url.searchParams.has("sendInitialEvents")) exchange.open().line(listEnd(1));
    else exchange?.answer(200, { metadata: { resourceVersion: "1" }, items: [] });
    return synced;
  }, 61_000);
});

test("Retry-After is waited for, but not for ever", async (t) => {
  const { clock, wire } = await syncedReflector(t, { random: () => 0 });
  await clock.advance(1_000);
  wire.last.end();
  await clock.advance(0);
  wire.last.answer(429, { kind: "Status", code: 429, reason: "TooManyRequests" }, { "retry-after": "17" });
  await clock.advance(16_999);
  assert.equal(wire.exchanges.length, 2);
  await clock.advance(1);
  assert.equal(wire.exchanges.length, 3);
  wire.last.answer(503, "down", { "retry-after": "86400" });
  await clock.advance(60_000);
  assert.equal(wire.exchanges.length, 4);
});

test("a watch that is silent too long is replaced; bookmarks keep it", async (t) => {
  const { clock, wire, reflector } = await syncedReflector(t);
  for (let minute = 1; minute <= 5; minute++) {
    await clock.advance(60_000);
    wire.last.line(bookmark(10 + minute));
  }
  await clock.advance(99_000);
  assert.equal(wire.exchanges.length, 1);
  await clock.advance(1_500);
  assert.equal(wire.exchanges.length, 2);
  assert.equal(wire.exchanges[0]?.closed, true);
  assert.equal(wire.last.url.searchParams.get("resourceVersion"), "15");
  assert.equal(reflector.stats().silences, 1);
});

test("a server that accepts and never answers is given up after a while", async (t) => {
  const { clock, wire } = await startedReflector(t);
  await clock.advance(29_999);
  assert.equal(wire.exchanges.length, 1);
  await clock.advance(300);
  assert.equal(wire.exchanges.length, 2);
  assert.equal(wire.exchanges[0]?.closed, true);
});

test("without streaming lists it pages, watches from there, and never asks for a stream again", async (t) => {
  const { clock, wire, takeChanges } = await startedReflector(t);
  wire.last.answer(422, { kind: "Status", code: 422, reason: "Invalid" });
  await clock.advance(0);
  assert.equal(wire.last.url.searchParams.get("limit"), "500");
  wire.last.answer(200, { metadata: { resourceVersion: "7", continue: "next" }, items: [thing("a", 1)] });
  await settled();
  assert.equal(wire.last.url.searchParams.get("continue"), "next");
  wire.last.answer(200, { metadata: { resourceVersion: "7" }, items: [thing("b", 2)] });
  await settled();
  assert.equal(wire.last.url.searchParams.get("resourceVersion"), "7");
  assert.deepEqual(takeChanges(), ["added a@1", "added b@2"]);
  wire.last.open().line(failureEvent(410, "Expired")).end();
  await clock.advance(1_000);
  assert.equal(wire.last.url.searchParams.get("limit"), "500");
});

test("an old server that takes the stream for a plain watch is noticed by its plain bookmark", async (t) => {
  const { clock, wire, names } = await startedReflector(t);
  wire.last
    .open()
    .line(added(thing("a", 1)))
    .line(bookmark(5));
  await clock.advance(1_000);
  assert.equal(wire.last.url.searchParams.get("limit"), "500");
  wire.last.answer(200, { metadata: { resourceVersion: "7" }, items: [thing("a", 1)] });
  await settled();
  assert.deepEqual(names(), ["n/a"]);
});

test("a line that makes no sense leads to a new list, not to a blind watch", async (t) => {
  const { clock, wire, takeChanges } = await syncedReflector(t);
  wire.last.send('{"type":"MODIFIED","object":\n');
  await clock.advance(1_000);
  assert.equal(wire.last.url.searchParams.get("sendInitialEvents"), "true");
  wire.last
    .open()
    .line(added(thing("a", 50)))
    .line(added(thing("b", 2)))
    .line(listEnd(60));
  await settled();
  assert.deepEqual(takeChanges(), ["updated a@1 -> a@50"]);
});
