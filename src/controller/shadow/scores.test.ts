import assert from "node:assert/strict";
import { test } from "node:test";

import type { JudgedFinding } from "../../core/shadow/shadow-report.ts";
import { Scores } from "./scores.ts";

test("each Service is judged by its own findings, and by those that are of none", () => {
  const scores = new Scores();
  const finding = (service?: string): JudgedFinding => ({ kind: "extra", resourceId: "/x", path: "", service });
  const change = { at: "", verdict: "differed", services: ["a/a", "b/b"] } as const;
  scores.add({ ...change, findings: [finding("a/a")] });
  scores.add({ ...change, findings: [finding()] });
  assert.deepEqual(scores.changes, { agreed: 0, explained: 0, differed: 2, unsettled: 0 });
  assert.deepEqual(scores.byService["a/a"], { agreed: 0, explained: 0, differed: 2, unsettled: 0 });
  assert.deepEqual(scores.byService["b/b"], { agreed: 1, explained: 0, differed: 1, unsettled: 0 });
});

test("whatever comes, it stays small", () => {
  const scores = new Scores();
  for (let at = 0; at < 11_000; at++) {
    scores.add({ at: String(at), verdict: "agreed", services: [`ns/${at}`], findings: [] });
  }
  assert.equal(Object.keys(scores.byService).length, 10_000);
  assert.equal(scores.byService["ns/0"], undefined);
  assert.equal(scores.recent.length, 100);
  assert.equal(scores.recent[0]?.at, "10999");
});
