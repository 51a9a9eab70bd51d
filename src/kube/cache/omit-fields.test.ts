import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "../../../test/support/laws.ts";
import { FieldOmitter } from "./omit-fields.ts";

const omitter = new FieldOmitter(["managedFields", "images"]);
const without = (value: unknown): unknown => JSON.parse(omitter.text(Buffer.from(JSON.stringify(value))));

test("the fields are left out, whatever their lists hold", () => {
  const hard = [{ 'k:{"port":80}]': ["]", "}", "\\", '\\"', { deep: [[]] }] }];
  assert.deepEqual(without({ metadata: { name: "a", managedFields: hard }, status: { b: 1, images: [1], c: 2 } }), {
    metadata: { name: "a" },
    status: { b: 1, c: 2 },
  });
});

test("text that only looks like such a field stays", () => {
  const objects = [
    { a: ',"managedFields":[' },
    { a: 1, 'x,"managedFields': [1] },
    { a: 1, managedFields: "text" },
    { a: 1, managedFields: { an: "object" } },
    { managedFields: [1], first: "of its object" },
    [",managedFields", [1]],
  ];
  for (const object of objects) assert.deepEqual(without(object), object);
});

test("a line that ends too early stays as it is", () => {
  const line = '{"a":1,"managedFields":[{"b":"]';
  assert.equal(omitter.text(Buffer.from(line)), line);
});

test("law: any JSON stays JSON, and nothing but such fields is missing", () => {
  const key = fc.oneof(fc.constantFrom("managedFields", "images", "a", 'q"', "\\"), fc.string());
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: "small" },
      fc.string(),
      fc.integer(),
      fc.array(tie("tree"), { maxLength: 4 }),
      fc.dictionary(key, tie("tree"), { maxKeys: 5 }),
    ),
  }));
  fc.assert(
    fc.property(tree, (value) => assert.deepEqual(pruned(without(value)), pruned(value))),
    { numRuns: 2_000 },
  );
});

/** Every list of such a name away, so that two values can be compared for the rest. */
function pruned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pruned);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(JSON.parse(JSON.stringify(value)) as object).filter(
    ([key, field]) => !(["managedFields", "images"].includes(key) && Array.isArray(field)),
  );
  return kept.map(([key, field]) => [key, pruned(field)]);
}
