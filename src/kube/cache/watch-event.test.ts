import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "../../../test/support/laws.ts";
import { FieldOmitter, LineCutter } from "./watch-event.ts";

test("law: wherever the stream is cut into pieces, the lines are the same", () => {
  const lines = fc.array(fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", "")));
  fc.assert(
    fc.property(lines, fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }), (texts, sizes) => {
      const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(""));
      const cutter = new LineCutter();
      const found: string[] = [];
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const size = sizes[turn % sizes.length]!;
        for (const line of cutter.push(bytes.subarray(at, at + size))) found.push(line.toString("utf8"));
        at += size;
      }
      assert.deepEqual(found, texts);
    }),
  );
});

test("a line that has not ended is not told", () => {
  const cutter = new LineCutter();
  assert.deepEqual([...cutter.push(Buffer.from("whole\nhal"))].map(String), ["whole"]);
});

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
