import assert from "node:assert/strict";
import { test } from "node:test";

import type { KubeObject } from "../client/resources.ts";
import { Store, type Change } from "./store.ts";
import { WriteThroughStore } from "./write-through-store.ts";

interface Thing extends KubeObject {
  readonly color?: string;
}

function thing(resourceVersion: string, uid = "u1", more: Partial<Thing> = {}): Thing {
  return { metadata: { name: "web", namespace: "default", uid, resourceVersion }, ...more };
}

/** A store over a watch that brings what the test says. */
function rig() {
  const watched = new Store<Thing>();
  let subscriber: (change: Change<Thing>) => void = () => {};
  const reflector = { store: watched, subscribe: (each: typeof subscriber) => (subscriber = each) };
  const store = new WriteThroughStore<Thing>(reflector, { color: ({ color }) => [color ?? "none"] });
  return {
    store,
    get: () => store.get("default/web"),
    seen: (object: Thing): Thing => {
      for (const change of watched.put(object)) subscriber(change);
      return object;
    },
    gone: (uid?: string) => {
      for (const change of watched.remove("default/web", uid)) subscriber(change);
    },
  };
}

test("what the controller wrote is used until the watch has caught up", () => {
  const { store, get, seen } = rig();
  seen(thing("8"));
  const written = thing("12");
  store.wrote(written);
  assert.equal(get(), written);
  seen(thing("9", "u1", { color: "old" }));
  assert.equal(get(), written);
  const later = seen(thing("13", "u1", { color: "new" }));
  assert.equal(get(), later);
});

test("versions are compared as numbers, however long", () => {
  const { store, get, seen } = rig();
  store.wrote(thing("10000000000000000001"));
  seen(thing("9"));
  assert.equal(get()?.metadata.resourceVersion, "10000000000000000001");
});

test("an object made anew under the same name is another one", () => {
  const { store, get, seen } = rig();
  store.wrote(thing("12", "old"));
  const anew = seen(thing("11", "new"));
  assert.equal(get(), anew);
});

test("versions that are no numbers are not compared: the watch is believed", () => {
  const { store, get, seen } = rig();
  store.wrote(thing("b"));
  const watched = seen(thing("a"));
  assert.equal(get(), watched);
});

test("a change of nothing but the version shows too: preconditions need it", () => {
  const { store, get, seen } = rig();
  seen(thing("8"));
  store.wrote(thing("9", "u1", { color: "red" }));
  seen(thing("9", "u1", { color: "red" }));
  const touched = seen(thing("20", "u1", { color: "red" }));
  assert.equal(get(), touched);
  assert.deepEqual(store.by("color", "red"), [touched]);
});

test("what the watch reports as deleted is gone, and an answer that comes later does not bring it back", () => {
  const { store, get, seen, gone } = rig();
  seen(thing("8"));
  gone();
  assert.equal(get(), undefined);
  store.wrote({ metadata: { ...thing("9").metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
  assert.equal(get(), undefined);
  store.wrote(thing("1", "u2"));
  store.lost(thing("1", "u1"));
  assert.equal(get()?.metadata.uid, "u2", "another object of that name");
  store.lost(thing("1", "u2"));
  assert.equal(get(), undefined);
});
