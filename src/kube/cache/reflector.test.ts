/** The reflector where nothing goes wrong, and what it promises to subscribers. */
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  type Thing,
  thing,
  added,
  modified,
  deleted,
  listEnd,
  startedReflector,
  told,
  syncedReflector,
} from "../../../test/support/reflector-rig.ts";
import { ScriptedWire } from "../../../test/support/scripted-wire.ts";
import { seededRandom, settled, VirtualClock } from "../../../test/support/virtual-clock.ts";
import { KubeClient } from "../client/kube-client.ts";
import { Reflector } from "./reflector.ts";
import { SERVICES } from "../client/resources.ts";

test("streams everything in, is synced at the bookmark, and follows on the same connection", async (t) => {
  const { wire, reflector, takeChanges, names } = await startedReflector(t);
  const query = Object.fromEntries(wire.last.url.searchParams);
  assert.equal(query["sendInitialEvents"], "true");
  assert.equal(query["resourceVersionMatch"], "NotOlderThan");
  assert.equal(query["allowWatchBookmarks"], "true");
  let synced = false;
  void reflector.synced.then(() => {
    synced = true;
  });
  wire.last
    .open()
    .line(added(thing("a", 1)))
    .line(added(thing("b", 2)));
  await settled();
  assert.equal(synced, false);
  wire.last
    .line(listEnd(10))
    .line(modified(thing("a", 11)))
    .line(deleted(thing("b", 12)));
  await settled();
  assert.equal(synced, true);
  assert.deepEqual(takeChanges(), ["added a@1", "added b@2", "updated a@1 -> a@11", "deleted b@2"]);
  assert.deepEqual(names(), ["n/a"]);
  assert.equal(wire.exchanges.length, 1);
});

test("a subscriber that throws, or rejects, does not disturb the others", async (t) => {
  const { wire, reflector, problems, takeChanges } = await startedReflector(t);
  reflector.subscribe(() => {
    throw new Error("thrown");
  });
  reflector.subscribe(() => Promise.reject(new Error("rejected")));
  const heard: string[] = [];
  reflector.subscribe((change) => {
    heard.push(told(change));
  });
  wire.last
    .open()
    .line(added(thing("a", 1)))
    .line(listEnd(10))
    .line(modified(thing("a", 11)));
  await settled();
  assert.deepEqual(heard, ["added a@1", "updated a@1 -> a@11"]);
  assert.deepEqual(takeChanges(), heard);
  assert.equal(reflector.stats().subscriberErrors, 4);
  assert.deepEqual(problems.map(({ error }) => String(error)).sort()[0], "Error: rejected");
});

test("a late subscriber is told what is known first", async (t) => {
  const { wire, reflector } = await syncedReflector(t);
  const heard: string[] = [];
  reflector.subscribe((change) => {
    heard.push(told(change));
  });
  wire.last.line(modified(thing("b", 11)));
  await settled();
  assert.deepEqual(heard, ["added a@1", "added b@2", "updated b@2 -> b@11"]);
});

test("a write that changes nothing which is kept is not told, but resumed from", async (t) => {
  const { clock, wire, takeChanges, reflector } = await syncedReflector(t);
  wire.last.line(modified(thing("a", 11, { size: 1 }))).end();
  await clock.advance(1_000);
  assert.deepEqual(takeChanges(), []);
  assert.equal(reflector.stats().unchanged, 1);
  assert.equal(wire.last.url.searchParams.get("resourceVersion"), "11");
  assert.equal(reflector.store.get("n/a")?.metadata.resourceVersion, "11");
});

test("problems without a listener are no problem", async (t) => {
  const clock = new VirtualClock();
  const wire = new ScriptedWire();
  const reflector = new Reflector<Thing>({
    client: new KubeClient({ transport: wire, clock }),
    resource: SERVICES,
    clock,
    random: seededRandom(1),
    project: (object) => object,
    onProblem: () => {
      throw new Error("the log is full");
    },
  });
  const stop = new AbortController();
  const run = reflector.run(stop.signal);
  t.after(() => run);
  await settled();
  wire.last.fail(new Error("ECONNREFUSED"));
  await clock.advance(1_000);
  assert.equal(wire.exchanges.length, 2);
  stop.abort(new Error("the test is over"));
});

test("a reflector runs once", async (t) => {
  const { reflector } = await startedReflector(t);
  await assert.rejects(reflector.run(new AbortController().signal), /runs once/);
});
