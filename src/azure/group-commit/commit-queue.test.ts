/** What a newer write inherits from the one whose place it takes, and how often a batch steps back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LB } from "../../../test/support/commit-rig.ts";
import { LIST, wanted } from "../../../test/support/shared-list.ts";
import { VirtualClock } from "../../../test/support/virtual-clock.ts";
import type { Priority } from "../budget/budget.ts";
import { CommitQueue, type Batch } from "./commit-queue.ts";
import type { Ticket } from "./write-kind.ts";

function ticket(dedupKey: string, priority: Priority = "create", readFirst = false, sinceMs = 0): Ticket {
  return LIST.open({ id: LB, kind: LIST, fragment: wanted(dedupKey, 1), dedupKey, priority, readFirst }, sinceMs)[0];
}

function taken(queue: CommitQueue): Batch {
  return queue.take() ?? assert.fail("nothing waits");
}

test("a newer write takes the place of the older one with the same key, on the stricter terms of the two", () => {
  const queue = new CommitQueue(new VirtualClock());
  queue.add(ticket("a", "drain", true, 1));
  queue.add(ticket("a", "create", false, 2));
  queue.add(ticket("b"));
  const { tickets } = taken(queue);
  assert.deepEqual(
    tickets.map(({ dedupKey, priority, readFirst, sinceMs }) => [dedupKey, priority, readFirst, sinceMs]),
    [
      ["a", "drain", true, 1],
      ["b", "create", false, 0],
    ],
  );
});

test("a drain steps back twice, also when newer ones with the same key take its place", () => {
  const queue = new CommitQueue(new VirtualClock());
  queue.add(ticket("node", "drain"));
  for (let times = 0; times < 2; times++) {
    const batch = taken(queue);
    assert.ok(queue.mayStepBack(batch));
    queue.add(ticket("node", "drain"));
    queue.stepBack(batch);
  }
  const batch = taken(queue);
  assert.equal(batch.tickets.length, 1);
  assert.equal(queue.mayStepBack(batch), false);
});

test("other writes step back for drains until they have waited for a minute", async () => {
  const clock = new VirtualClock();
  const queue = new CommitQueue(clock);
  queue.add(ticket("a"));
  const batch = taken(queue);
  for (let times = 0; times < 5; times++) {
    assert.ok(queue.mayStepBack(batch));
    queue.stepBack(batch);
    taken(queue);
  }
  await clock.advance(60_000);
  assert.equal(queue.mayStepBack(batch), false);
});
