import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "../../../test/support/laws.ts";
import type { KubeObject } from "../client/resources.ts";
import { sameJson } from "../client/same-json.ts";
import { Store } from "./store.ts";

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
