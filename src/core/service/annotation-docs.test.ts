import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { renderAnnotationDocs } from "./annotation-docs.ts";

test("docs/annotations.md says what the parser does: `npm run docs` writes it anew", () => {
  const written = readFileSync(new URL("../../../docs/annotations.md", import.meta.url), "utf8");
  assert.equal(written, renderAnnotationDocs());
});
