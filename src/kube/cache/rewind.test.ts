/** The reflector on a server that went back to an older state, as after a restore of etcd. */
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  added,
  bookmark,
  failureEvent,
  listEnd,
  modified,
  startedReflector,
  syncedReflector,
  thing,
} from "../../../test/support/reflector-rig.ts";
import { settled } from "../../../test/support/virtual-clock.ts";

const isList = (url: URL): boolean => url.searchParams.get("sendInitialEvents") === "true";

test("a watch that resumes on a restored server is replaced at once, by a list that has what came back", async (t) => {
  const { clock, wire, server, takeChanges, names, problems } = await syncedReflector(t);
  wire.last.fail(new Error("ECONNRESET"));
  server.version = 7;
  await clock.advance(200);
  assert.ok(isList(wire.last.url), "the watch from version 10 is open, and would stay silent");
  assert.match(String(problems.at(-1)?.error), /watch services: .* went back from version 10 to 7/);
  wire.last
    .open()
    .line(added(thing("b", 2)))
    .line(added(thing("restored", 5)))
    .line(listEnd(7));
  await settled();
  assert.deepEqual(takeChanges(), ["updated b@2 -> b@2", "added restored@5", "deleted a@1"]);
  assert.deepEqual(names(), ["n/b", "n/restored"]);
  wire.last.line(modified(thing("b", 8)));
  await settled();
  assert.deepEqual(takeChanges(), ["updated b@2 -> b@8"]);
});

test("a watch that stays open is checked within half a minute", async (t) => {
  const { clock, wire, server, checks } = await syncedReflector(t);
  await clock.advance(29_000);
  assert.equal(checks(), 0);
  server.version = 9;
  await clock.advance(2_000);
  assert.ok(isList(wire.last.url));
  assert.equal(checks(), 1);
});

test("the version of a check counts too: a quiet kind is far behind the server", async (t) => {
  const { clock, wire, server } = await syncedReflector(t);
  server.version = 5_000;
  await clock.advance(31_000);
  assert.equal(wire.exchanges.length, 1);
  server.version = 4_000; // went back, and beyond what the watch has seen
  wire.last.fail(new Error("ECONNRESET"));
  await clock.advance(200);
  assert.ok(isList(wire.last.url));
});

test("an object that is back at a version of before is reported, also at the very same one", async (t) => {
  const { clock, wire, server, reflector, takeChanges } = await syncedReflector(t);
  server.version = 7;
  await clock.advance(31_000);
  wire.last
    .open()
    .line(added(thing("a", 1, { size: 100 })))
    .line(added(thing("b", 1)))
    .line(listEnd(7));
  await settled();
  assert.deepEqual(takeChanges(), ["updated a@1 -> a@100", "updated b@2 -> b@1"]);
  assert.equal(reflector.store.get("n/b")?.metadata.resourceVersion, "1");
});

test("a list for another reason that turns out to be older is read again, as one after a restore", async (t) => {
  const { clock, wire, takeChanges, reflector } = await syncedReflector(t);
  let rewinds = 0;
  reflector.onRewind(() => (rewinds += 1));
  wire.last.line(failureEvent(410, "Expired")).end();
  await clock.advance(0);
  for (let list = 0; list < 2; list++) {
    wire.last
      .open()
      .line(added(thing("a", 1)))
      .line(listEnd(5));
    await clock.advance(0);
  }
  assert.equal(wire.exchanges.length, 3);
  assert.deepEqual(takeChanges(), ["updated a@1 -> a@1", "deleted b@2"]);
  assert.equal(rewinds, 1);
});

test("a bookmark of an older version is one more sign", async (t) => {
  const { clock, wire } = await syncedReflector(t);
  wire.last.line(bookmark(9));
  await clock.advance(0);
  assert.ok(isList(wire.last.url));
  assert.equal(wire.exchanges.length, 2);
});

test("a server that cannot be asked, or is as new as ever, is left in peace", async (t) => {
  const { clock, wire, server, checks, problems } = await syncedReflector(t);
  await clock.advance(31_000);
  server.version = 10;
  await clock.advance(31_000);
  assert.deepEqual([checks(), wire.exchanges.length, problems.length], [2, 1, 0]);
});

test("a list under way is not checked: its version is of its beginning", async (t) => {
  const { clock, wire, server, checks, reflector } = await startedReflector(t);
  server.version = 20;
  wire.last.open();
  for (let seconds = 0; seconds < 80; seconds += 20) {
    wire.last.line(added(thing(`a${seconds}`, 1)));
    await clock.advance(20_000);
  }
  assert.equal(checks(), 0);
  wire.last.line(listEnd(10));
  await settled();
  assert.equal(reflector.stats().lists, 1);
});
