import assert from "node:assert/strict";
import { test } from "node:test";

import { settled } from "../../../test/support/virtual-clock.ts";
import { ConcurrencyLimit } from "./concurrency-limit.ts";

test("a limit lets in so many at a time, in order, also after a failure", async () => {
  const limit = new ConcurrencyLimit(2);
  const begun: number[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const jobs = [0, 1, 2, 3].map((at) =>
    limit.run(() => {
      begun.push(at);
      return new Promise<void>((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve())));
    }),
  );
  await settled();
  assert.deepEqual(begun, [0, 1]);
  ends[0]?.(new Error("x"));
  await assert.rejects(jobs[0] ?? Promise.resolve());
  await settled();
  assert.deepEqual(begun, [0, 1, 2]);
  ends[1]?.();
  ends[2]?.();
  await settled();
  assert.deepEqual(begun, [0, 1, 2, 3]);
});
