import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "../../../test/support/laws.ts";
import { type KubeObject, sameJson } from "../client/resources.ts";
import { Store, type Change, WriteThroughStore } from "./store.ts";

interface Slice extends KubeObject {
  readonly nodes: readonly string[];
}

function slice(name: string, version: number, nodes: readonly string[], uid = `uid-${name}`): Slice {
  return { metadata: { namespace: "n", name, uid, resourceVersion: String(version) }, nodes };
}

const newStore = () => new Store<Slice>({ node: ({ nodes }) => nodes });
const namesBy = (store: Store<Slice>, node: string): string[] =>
  store.by("node", node).map(({ metadata }) => metadata.name);

test("objects are found by what an index says of them now, not of what they were", () => {
  const store = newStore();
  store.put(slice("a", 1, ["n1", "n2"]));
  store.put(slice("b", 2, ["n2"]));
  assert.deepEqual(namesBy(store, "n2"), ["a", "b"]);
  store.put(slice("a", 3, ["n3"]));
  assert.deepEqual(namesBy(store, "n2"), ["b"]);
  assert.deepEqual(namesBy(store, "n3"), ["a"]);
  store.remove("n/a");
  assert.deepEqual(namesBy(store, "n3"), []);
  assert.throws(() => store.by("zone", "x"), /there is no index zone/);
});

test("the snapshot is the same array until a change is reported", () => {
  const store = newStore();
  store.put(slice("a", 1, ["n1"]));
  const first = store.snapshot;
  assert.deepEqual(first, [slice("a", 1, ["n1"])]);
  store.put(slice("a", 2, ["n1"]));
  assert.equal(store.snapshot, first, "nothing but the version differs");
  store.put(slice("a", 3, ["n2"]));
  const second = store.snapshot;
  assert.deepEqual(second, [slice("a", 3, ["n2"])]);
  store.put(slice("b", 4, []));
  assert.equal(store.snapshot.length, 2);
  store.remove("n/a");
  assert.deepEqual(store.snapshot, [slice("b", 4, [])]);
  assert.deepEqual(second, [slice("a", 3, ["n2"])], "what was handed out does not change");
});

test("another uid under the same name is another object", () => {
  const store = newStore();
  const [old, next] = [slice("a", 1, ["n1"], "one"), slice("a", 2, ["n1"], "two")];
  store.put(old);
  assert.deepEqual(store.put(next), [
    { kind: "deleted", object: old },
    { kind: "added", object: next },
  ]);
  assert.deepEqual(store.remove("n/a", "one"), [], "a late delete of the first is not of the second");
  assert.equal(store.size, 1);
});

test("a version that changes nothing else is kept and not told", () => {
  const store = newStore();
  store.put(slice("a", 1, ["n1"]));
  assert.deepEqual(store.put(slice("a", 2, ["n1"])), []);
  assert.equal(store.get("n/a")?.metadata.resourceVersion, "2");
});

test("law: an index is what one would find by looking at every object", () => {
  const put = fc.record({
    name: fc.constantFrom("a", "b", "c"),
    nodes: fc.uniqueArray(fc.constantFrom("n1", "n2", "n3")),
    uid: fc.constantFrom("one", "two"),
    gone: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(put), (steps) => {
      const store = newStore();
      for (const [version, { name, nodes, uid, gone }] of steps.entries()) {
        if (gone) store.remove(`n/${name}`);
        else store.put(slice(name, version, nodes, uid));
      }
      for (const node of ["n1", "n2", "n3"]) {
        const wanted = [...store.values()].filter(({ nodes }) => nodes.includes(node));
        assert.deepEqual(new Set(store.by("node", node)), new Set(wanted));
      }
    }),
  );
});

test("law: sameJson is equality of JSON", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      assert.ok(sameJson(a, structuredClone(a)));
      assert.equal(sameJson(a, b), sameText(a, b));
    }),
  );
  assert.ok(sameJson({ a: undefined }, {}));
  assert.ok(!sameJson({ a: null }, {}));
  assert.ok(!sameJson([], {}));
});

function sameText(a: unknown, b: unknown): boolean {
  const ordered = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(ordered)
      : typeof value === "object" && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .sort(([x], [y]) => (x < y ? -1 : 1))
              .map(([k, v]) => [k, ordered(v)]),
          )
        : value;
  return JSON.stringify(ordered(a)) === JSON.stringify(ordered(b));
}

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
  let rewound = (): void => {};
  const reflector = {
    store: watched,
    subscribe: (each: typeof subscriber) => (subscriber = each),
    onRewind: (listener: () => void) => (rewound = listener),
  };
  const store = new WriteThroughStore<Thing>(reflector, { color: ({ color }) => [color ?? "none"] });
  return {
    store,
    get: () => store.get("default/web"),
    seen: (object: Thing): Thing => {
      for (const change of watched.replace(object)) subscriber(change);
      return object;
    },
    rewound: () => rewound(),
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

test("a version that a write has brought already is known, and no other", () => {
  const { store, seen } = rig();
  const written = thing("12");
  store.wrote(written);
  assert.equal(store.written(thing("12")), written);
  assert.equal(store.written(thing("13")), undefined);
  assert.equal(store.written(thing("12", "u2")), undefined);
  seen(written);
  assert.equal(store.written(thing("12")), undefined, "the watch has brought it");
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

test("an object whose last finalizer the controller removed is gone before the watch reports it", () => {
  const { store, get, seen, gone } = rig();
  const leaving = (resourceVersion: string, finalizers: string[]): Thing => ({
    metadata: { ...thing(resourceVersion).metadata, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers },
  });
  const held = seen(leaving("8", ["azlb"]));
  store.released(held, leaving("10", []));
  assert.equal(get(), undefined);
  seen(leaving("9", ["azlb"]));
  assert.equal(get(), undefined, "an older state that was on its way");
  gone();
  const anew = seen(thing("11", "u2"));
  assert.equal(get(), anew);
  store.released(held, leaving("10", []));
  assert.equal(get(), anew, "the answer came after the next object of that name");

  const shared = seen(leaving("12", ["azlb", "another"]));
  store.released(shared, leaving("13", ["another"]));
  assert.deepEqual(get()?.metadata.finalizers, ["another"]);
});

test("once the server went back to an older state, no write of before hides what it says", () => {
  const { store, get, seen, rewound } = rig();
  const restored = seen(thing("8"));
  store.wrote(thing("12", "u1", { color: "lost" }));
  rewound();
  assert.equal(get(), restored, "a write that the watch never brought");
  assert.deepEqual(store.by("color", "lost"), []);
  store.wrote(thing("9", "u1", { color: "anew" }));
  assert.equal(get()?.color, "anew", "a write of after is used as ever");
});

test("an object that is reported with an older version than before is at that version", () => {
  const { get, seen } = rig();
  seen(thing("50", "u1", { color: "new" }));
  const restored = seen(thing("8", "u1", { color: "old" }));
  assert.equal(get(), restored);
  const another = seen(thing("8", "u1", { color: "another" }));
  assert.equal(get(), another, "also at an equal version");
});

test("what was only written, and is unknown to a server that went back, is gone", () => {
  const { store, get, rewound } = rig();
  store.wrote(thing("12"));
  rewound();
  assert.equal(get(), undefined);
});
