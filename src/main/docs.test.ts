import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { DOCS } from "./docs.ts";

for (const [file, render] of Object.entries(DOCS)) {
  test(`docs/${file} says what the program does: \`npm run docs\` writes it anew`, () => {
    assert.equal(readFileSync(new URL(`../../docs/${file}`, import.meta.url), "utf8"), render());
  });
}
