import assert from "node:assert/strict";
import { test } from "node:test";

import { DelayQueue } from "./delay-queue.ts";

test("a task that throws stays scheduled, with those after it", () => {
  const queue = new DelayQueue();
  const ran: string[] = [];
  let isRefused = true;
  queue.schedule("first", 0, () => ran.push("first"));
  queue.schedule("second", 0, () => {
    if (isRefused) throw new Error("refused");
    ran.push("second");
  });
  queue.schedule("third", 0, () => ran.push("third"));
  assert.throws(() => queue.run(5), /refused/);
  assert.deepEqual([ran, queue.nextAtMs], [["first"], 5]);
  isRefused = false;
  queue.run(5);
  assert.deepEqual([ran, queue.nextAtMs], [["first", "second", "third"], undefined]);
});
