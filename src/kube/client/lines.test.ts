import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "../../../test/support/laws.ts";
import { LineCutter } from "./lines.ts";

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
