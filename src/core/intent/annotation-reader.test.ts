import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "../../../test/support/laws.ts";
import { GROUPS } from "./annotations/groups.ts";
import { unknownAnnotations } from "./annotation-reader.ts";

const KEYS = GROUPS.flatMap((group) => group.annotations.map((annotation) => annotation.key.replace("{port}", "80")));

test("no known key is unknown", () => assert.deepEqual(unknownAnnotations(KEYS, [80]), { warnings: [], problems: [] }));

test("no key is listed twice", () => assert.equal(new Set(KEYS).size, KEYS.length));

/** No slash: Kubernetes refuses a key with two of them. */
const LETTERS = "abcdefghijklmnopqrstuvwxyz-_.";
const typo = fc
  .record({
    key: fc.constantFrom(...KEYS),
    at: fc.nat(79),
    letter: fc.constantFrom(...LETTERS.split("")),
    how: fc.constantFrom("insert", "delete", "replace"),
  })
  .map(({ key, at, letter, how }) => {
    const place = at % key.length;
    const rest = key.slice(how === "insert" ? place : place + 1);
    return key.slice(0, place) + (how === "delete" ? "" : letter) + rest;
  })
  .filter((key) => !KEYS.includes(key));

test("one wrong letter anywhere in any key is noticed, with a known key as the suggestion", () => {
  fc.assert(
    fc.property(typo, (key) => {
      const { warnings, problems } = unknownAnnotations([key], [80]);
      const [warning] = [...warnings, ...problems];
      assert.ok(warning !== undefined, key);
      const meant = /did you mean ([^?,]*)[?,]/.exec(warning.message)?.[1]?.replace("{port}", "80");
      assert.ok(meant === undefined || KEYS.includes(meant), warning.message);
    }),
    { numRuns: 500 },
  );
});
