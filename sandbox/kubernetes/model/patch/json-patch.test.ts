import assert from "node:assert/strict";
import { test } from "node:test";

import { jsonPatch, MalformedPatchError, PatchMismatchError } from "./json-patch.ts";
import { mergePatch } from "./merge-patch.ts";

const DOCUMENT = { a: { b: [1, 2] }, "x/y": 1, "m~n": 2 };

const CASES: readonly { what: string; operations: object[]; after: unknown }[] = [
  { what: "add to an object", operations: [{ op: "add", path: "/a/c", value: 3 }], after: { b: [1, 2], c: 3 } },
  { what: "add inside a list", operations: [{ op: "add", path: "/a/b/1", value: 9 }], after: { b: [1, 9, 2] } },
  { what: "append", operations: [{ op: "add", path: "/a/b/-", value: 3 }], after: { b: [1, 2, 3] } },
  { what: "replace in a list", operations: [{ op: "replace", path: "/a/b/0", value: 9 }], after: { b: [9, 2] } },
  { what: "remove", operations: [{ op: "remove", path: "/a/b/0" }], after: { b: [2] } },
  { what: "move", operations: [{ op: "move", from: "/a/b", path: "/a/c" }], after: { c: [1, 2] } },
  { what: "copy", operations: [{ op: "copy", from: "/a/b/1", path: "/a/c" }], after: { b: [1, 2], c: 2 } },
  { what: "a test that holds", operations: [{ op: "test", path: "/a/b", value: [1, 2] }], after: { b: [1, 2] } },
];

for (const { what, operations, after } of CASES) {
  test(what, () => assert.deepEqual((jsonPatch(DOCUMENT, operations) as typeof DOCUMENT).a, after));
}

test("~1 is a slash and ~0 a tilde", () => {
  const patched = jsonPatch(DOCUMENT, [
    { op: "replace", path: "/x~1y", value: 8 },
    { op: "replace", path: "/m~0n", value: 9 },
  ]);
  assert.deepEqual(patched, { a: { b: [1, 2] }, "x/y": 8, "m~n": 9 });
});

test("the document itself is never altered", () => {
  const before = structuredClone(DOCUMENT);
  jsonPatch(DOCUMENT, [{ op: "remove", path: "/a" }]);
  assert.deepEqual(DOCUMENT, before);
});

test("what does not fit the document is a mismatch, what is no patch is malformed", () => {
  for (const operation of [
    { op: "test", path: "/a/b/0", value: 2 },
    { op: "remove", path: "/nothing" },
    { op: "add", path: "/no/parent", value: 1 },
    { op: "replace", path: "/a/b/7", value: 1 },
  ]) {
    assert.throws(() => jsonPatch(DOCUMENT, [operation]), PatchMismatchError, JSON.stringify(operation));
  }
  for (const operations of [{}, [{ op: "add" }], [{ op: "shuffle", path: "/a" }], [{ op: "add", path: "a" }]]) {
    assert.throws(() => jsonPatch(DOCUMENT, operations), MalformedPatchError, JSON.stringify(operations));
  }
});

test("a missing value equals null, as in kube-apiserver", () => {
  assert.deepEqual(jsonPatch({ a: {} }, [{ op: "test", path: "/a/b", value: null }]), { a: {} });
  assert.deepEqual(jsonPatch({ a: {} }, [{ op: "add", path: "/a/b" }]), { a: { b: null } });
});

test("a mismatch carries kube-apiserver's text", () => {
  const remove = (path: string) => () => jsonPatch(DOCUMENT, [{ op: "remove", path }]);
  assert.throws(remove("/nothing"), { message: 'doc is missing path: "/nothing": missing value' });
  assert.throws(remove("/a/b/3"), { message: "Unable to access invalid index: 3: invalid index referenced" });
});

test("a merge patch merges maps, deletes with null and replaces lists", () => {
  assert.deepEqual(mergePatch({ a: { b: 1, c: [1] }, d: 1 }, { a: { c: [2], e: 3 }, d: null }), {
    a: { b: 1, c: [2], e: 3 },
  });
});

test("names of JavaScript's own properties are keys like any other", () => {
  for (const name of ["__proto__", "constructor"]) {
    const patch = JSON.parse(`{"data": {"${name}": {"a": 1}}}`) as object;
    const merged = `{"data":{"kept":1,"${name}":{"a":1}}}`;
    assert.equal(JSON.stringify(mergePatch({ data: { kept: 1 } }, patch)), merged);
    const operations = [{ op: "add", path: `/data/${name}`, value: { a: 1 } }];
    assert.equal(JSON.stringify(jsonPatch({ data: { kept: 1 } }, operations)), merged);
  }
});
